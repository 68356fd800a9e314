"""Metrics of the relay for Prometheus: counts only."""

from prometheus_client import Counter

from blender_dp.server.metrics import ServerMetrics


class RelayMetrics(ServerMetrics):
    """The relay's own figures."""

    def __init__(self) -> None:
        super().__init__("blender_dp_relay")
        self._reports = Counter(
            "blender_dp_relay_reports",
            "Reports, by outcome: accepted, repeated, forwarded or destroyed.",
            ("outcome",),
            registry=self.registry,
        )
        self._refused_lists = Counter(
            "blender_dp_relay_lists_refused",
            "Look-ups of a campaign whose head list is not for this relay, by reason.",
            ("reason",),
            registry=self.registry,
        )
        self.accepted = self._reports.labels("accepted")
        self.repeated = self._reports.labels("repeated")

    def count_ended(self, outcome: str, count: int) -> None:
        """Count reports that were forwarded or destroyed."""
        self._reports.labels(outcome).inc(count)

    def count_refused_list(self, reason: str) -> None:
        """Count a head list that is not for this relay."""
        self._refused_lists.labels(reason).inc()
