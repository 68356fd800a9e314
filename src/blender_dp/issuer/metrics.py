"""Metrics of the issuer for Prometheus: counts only."""

from prometheus_client import Counter

from blender_dp.server.metrics import ServerMetrics


class IssuerMetrics(ServerMetrics):
    """The issuer's own figures."""

    def __init__(self) -> None:
        super().__init__("blender_dp_issuer")
        self._refused_lists = Counter(
            "blender_dp_issuer_lists_refused",
            "Look-ups of a campaign for which this issuer signs nothing, by reason.",
            ("reason",),
            registry=self.registry,
        )

    def count_refused_list(self, reason: str) -> None:
        """Count a head list for which nothing is signed."""
        self._refused_lists.labels(reason).inc()
