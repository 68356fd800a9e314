"""Metrics of a small server for Prometheus: counts only."""

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MEDIA_TYPE = CONTENT_TYPE_LATEST


class ServerMetrics:
    """Figures that every small server has, in a registry of its own."""

    def __init__(self, prefix: str) -> None:
        # They would tell when the first request came.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._requests = Counter(
            f"{prefix}_requests",
            "Requests answered, by route template, method and status.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._degraded = Gauge(
            f"{prefix}_degraded",
            "1 while the server is degraded for this reason.",
            ("reason",),
            registry=self.registry,
        )
        self._answered: dict[tuple[str, str, int], Counter] = {}

    def count_answer(self, route: str, method: str, status: int) -> None:
        """Count an answer."""
        key = (route, method, status)
        found = self._answered.get(key)
        if found is None:
            found = self._answered[key] = self._requests.labels(*key)
        found.inc()

    def set_trouble(self, reason: str, *, is_so: bool) -> None:
        """Set whether the server is degraded for a reason."""
        self._degraded.labels(reason).set(int(is_so))

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them."""
        return generate_latest(self.registry)
