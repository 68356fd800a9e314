"""Metrics for Prometheus: counts, times and refusals; never the content of reports.

Requests of opt-in users are counted but not timed: the time of a contribution grows with its number
of records, and metrics may be public.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from blender_dp.service.operation.gauges import Gauges

MEDIA_TYPE = CONTENT_TYPE_LATEST
_DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus_client when it is imported."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
UNTIMED = "/opt-in"
"""The end of the route whose requests hold raw records."""


class Metrics:
    """The service's own figures, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "blender_dp_requests",
            "Requests answered, by route template, method and status.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "blender_dp_request_seconds",
            "Time to answer, by route template; not of contributions.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._reports = Counter(
            "blender_dp_reports",
            "Reports, by outcome.",
            ("outcome",),
            registry=self.registry,
        )
        self._refusals = Counter(
            "blender_dp_report_requests_refused",
            "Requests with reports that were refused, by problem.",
            ("problem",),
            registry=self.registry,
        )
        self._jobs = Counter(
            "blender_dp_jobs",
            "Jobs ended for good, by kind and outcome.",
            ("kind", "outcome"),
            registry=self.registry,
        )
        self._store_up = Gauge(
            "blender_dp_store_up",
            "1 if the database answered when last asked.",
            registry=self.registry,
            multiprocess_mode="mostrecent",  # a worker without a check yet has no value
        )
        self.gauges = Gauges(self.registry)
        self._answered: dict[tuple[str, str, int], tuple[Counter, Histogram | None]] = {}
        self.accepted = self._reports.labels("accepted")
        self.repeated = self._reports.labels("repeated")

    def count_answer(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        key = (route, method, status)
        found = self._answered.get(key)
        if found is None:
            is_timed = not route.endswith(UNTIMED)
            timer = self._seconds.labels(route) if is_timed else None
            found = (self._requests.labels(*key), timer)
            self._answered[key] = found
        found[0].inc()
        if found[1] is not None:
            found[1].observe(seconds)

    def count_refusal(self, problem: str) -> None:
        """Count a request whose reports were refused."""
        self._refusals.labels(problem).inc()

    def count_job(self, kind: str, outcome: str) -> None:
        """Count a job that is not tried again automatically."""
        self._jobs.labels(kind, outcome).inc()

    def store_is_up(self, *, is_up: bool) -> None:
        """Set whether the database answers."""
        self._store_up.set(int(is_up))

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them, those of all workers added up."""
        if _DIRECTORY not in os.environ:
            return generate_latest(self.registry)
        of_all = CollectorRegistry()
        MultiProcessCollector(of_all)  # type: ignore[no-untyped-call]  # the library has no types there
        return generate_latest(of_all)


@contextmanager
def shared_figures() -> Iterator[Callable[[int], None]]:
    """Let processes that start inside this block add up their figures.

    Yields a function to call with the id of every process that died: the process then does not
    count as running, and its counts are kept.
    """
    with tempfile.TemporaryDirectory(prefix="blender-dp-figures-") as directory:
        os.environ[_DIRECTORY] = directory
        try:
            yield partial(mark_process_dead, path=directory)
        finally:
            del os.environ[_DIRECTORY]
