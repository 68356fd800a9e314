"""Gauges: jobs that wait, troubles, free disk space and running workers.

With several worker processes, each keeps its figures in files of a shared directory, so that any of
them can answer for all (``prometheus_client``'s multiprocess mode).
"""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge

from blender_dp.service.storage.store import Workload


class Gauges:
    """Gauges in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def newest(name: str, says: str, *labels: str) -> Gauge:
            """Return a gauge with the same value in all workers: the newest value counts."""
            return Gauge(
                f"blender_dp_{name}",
                says,
                labels,
                registry=registry,
                multiprocess_mode="mostrecent",
            )

        self._waiting = newest("jobs_waiting", "Jobs that no worker has begun.")
        self._overdue = newest(
            "jobs_overdue",
            "Jobs not ended an hour after their campaign moved, without failed ones.",
        )
        self._failed = newest(
            "jobs_failed", "Jobs that ended in failure; of purged campaigns, erasures only."
        )
        self._oldest = newest(
            "oldest_open_campaign_seconds",
            "Age of the oldest open campaign in seconds; 0 if none is open.",
        )
        self._free = newest("disk_free_bytes", "Free bytes on the disk of the data directory.")
        self._degraded = newest(
            "degraded", "1 while the service is degraded for this reason.", "reason"
        )
        self._expected = newest("workers_expected", "Workers that should answer.")
        self._alive = Gauge(
            "blender_dp_workers_alive",
            "Workers that answer.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._restarts = Counter(
            "blender_dp_worker_restarts",
            "Workers that were started in the place of a dead one.",
            registry=registry,
        )

    def count_worker(self, *, expected: int, is_replacement: bool) -> None:
        """Set that this process runs, as one of ``expected`` workers."""
        self._alive.set(1)
        self._expected.set(expected)
        self._restarts.inc(int(is_replacement))

    def set_troubles(self, is_so: Mapping[str, bool]) -> None:
        """Set for every reason whether the service is degraded for it."""
        for reason, value in is_so.items():
            self._degraded.labels(reason).set(int(value))

    def set_workload(self, found: Workload) -> None:
        """Set the counts of jobs and the age of the oldest open campaign."""
        self._waiting.set(found.waiting)
        self._overdue.set(found.overdue)
        self._failed.set(found.failed)
        self._oldest.set(found.oldest_open_seconds)

    def set_free_disk(self, free_bytes: int) -> None:
        """Set the free disk space."""
        self._free.set(free_bytes)
