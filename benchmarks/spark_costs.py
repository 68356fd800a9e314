"""Cost of a program on a Spark cluster, from its processes and from Spark's event log."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

import psutil

_AFTER_COLLECTION = re.compile(r"Pause .*->(\d+)M\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """What all tasks of a program did, by Spark's event log."""

    cpu_seconds: float
    returned_bytes: int
    shuffled_bytes: tuple[int, ...]
    """Of every shuffle, the largest first."""


@dataclass(slots=True)
class Processes:
    """Processor seconds and resident bytes of a driver and its executors, seen while they run."""

    workers: Sequence[int]
    """The processes that start the executors; their own time is not counted."""
    cpu_seconds: dict[int, float] = field(default_factory=dict)
    python_bytes: int = 0
    jvm_bytes: int = 0
    """The most that the driver's two processes held, apart."""

    def watch(self, driver: Popen[bytes]) -> None:
        """Look again and again until the driver ends."""
        while driver.poll() is None:
            self._look(driver.pid)
            with suppress(TimeoutExpired):
                driver.wait(timeout=0.2)

    def _look(self, driver: int) -> None:
        for process in (*_family(driver), *self._executors()):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                self.cpu_seconds[process.pid] = times.user + times.system
        with suppress(psutil.NoSuchProcess):
            first, *others = (process.memory_info().rss for process in _family(driver))
            self.python_bytes = max(self.python_bytes, first)
            self.jvm_bytes = max(self.jvm_bytes, *others, 0)

    def _executors(self) -> Iterator[psutil.Process]:
        for worker in self.workers:
            yield from _family(worker)[1:]


def _family(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def tasks_of(event_log: Path) -> Tasks:
    """Add up the tasks in an event log; a stage that writes for others is a shuffle."""
    cpu = returned = 0
    shuffled: Counter[int] = Counter()
    for event in map(json.loads, event_log.read_text(encoding="utf-8").splitlines()):
        metrics: dict[str, Any] = event.get("Task Metrics") or {}
        if event["Event"] != "SparkListenerTaskEnd" or not metrics:
            continue
        cpu += metrics["Executor CPU Time"]
        returned += metrics["Result Size"]
        shuffled[event["Stage ID"]] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    return Tasks(
        cpu_seconds=cpu / 1e9,
        returned_bytes=returned,
        shuffled_bytes=tuple(sorted((+shuffled).values(), reverse=True)),
    )


def heap_after_collection(gc_logs: Sequence[Path]) -> int:
    """Return the most megabytes that a JVM still held after it had collected its garbage."""
    texts = (log.read_text(encoding="utf-8") for log in gc_logs)
    return max((int(held) for text in texts for held in _AFTER_COLLECTION.findall(text)), default=0)
