"""Metrics of the relay for Prometheus: counts only."""

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MEDIA_TYPE = CONTENT_TYPE_LATEST


class RelayMetrics:
    """The relay's own figures, in a registry of its own."""

    def __init__(self) -> None:
        # They would tell when the first report came.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "blender_dp_relay_requests",
            "Requests answered, by route template, method and status.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._reports = Counter(
            "blender_dp_relay_reports",
            "Reports, by outcome: accepted, repeated, forwarded or destroyed.",
            ("outcome",),
            registry=self._registry,
        )
        self._refused_lists = Counter(
            "blender_dp_relay_lists_refused",
            "Look-ups of a campaign whose head list is not for this relay, by reason.",
            ("reason",),
            registry=self._registry,
        )
        self._degraded = Gauge(
            "blender_dp_relay_degraded",
            "1 while the relay is degraded for this reason.",
            ("reason",),
            registry=self._registry,
        )
        self._answered: dict[tuple[str, str, int], Counter] = {}
        self.accepted = self._reports.labels("accepted")
        self.repeated = self._reports.labels("repeated")

    def count_answer(self, route: str, method: str, status: int) -> None:
        """Count an answer."""
        key = (route, method, status)
        found = self._answered.get(key)
        if found is None:
            found = self._answered[key] = self._requests.labels(*key)
        found.inc()

    def count_ended(self, outcome: str, count: int) -> None:
        """Count reports that were forwarded or destroyed."""
        self._reports.labels(outcome).inc(count)

    def count_refused_list(self, reason: str) -> None:
        """Count a head list that is not for this relay."""
        self._refused_lists.labels(reason).inc()

    def set_trouble(self, reason: str, *, is_so: bool) -> None:
        """Set whether the relay is degraded for a reason."""
        self._degraded.labels(reason).set(int(is_so))

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them."""
        return generate_latest(self._registry)
