"""Slowdown of a store as ids accumulate: each new id goes to another page of a tree.

python -m benchmarks.service.growth    # SQLite alone; keeps its row of the page of goals
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.goals import Goal, keep_rows
from benchmarks.service import campaign
from blender_dp.service.http.reports.checked_reports import TAG_BYTES, CheckedReports
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.wire.reports.service_report import ID_BYTES, NamedItems

MILLIONS = 10
_BATCH, _AT_ONCE = 1_000, 32


@dataclass(frozen=True, slots=True)
class Rate:
    """Batched reports that a store took without HTTP while one million was added."""

    per_second: float
    per_cpu_second: float
    """For a second of this process's time, which other work on the machine changes less."""


def rates(database: str | None = None) -> Sequence[Rate]:
    """Return the rate of every million."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        address = database or str(directory / "service.sqlite")
        collecting = campaign.collecting(directory, address, campaign.head_list("paper"))
        return asyncio.run(_rates(address, collecting))


async def _rates(address: str, collecting: UUID) -> Sequence[Rate]:
    store = await open_store(address)
    try:
        return [await _rate(store, collecting) for _ in range(MILLIONS)]
    finally:
        await store.close()


async def _rate(store: DatabaseStore, collecting: UUID) -> Rate:
    batches = iter(range(1_000_000 // _BATCH))

    async def sender() -> None:
        for _ in batches:
            await store.add_reports(collecting, _some_reports())

    began, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(sender() for _ in range(_AT_ONCE)))
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - used
    return Rate(1_000_000 / seconds, 1_000_000 / cpu_seconds)


def _some_reports() -> CheckedReports:
    """Return reports with new ids that all name the first cell."""
    first = np.zeros((_BATCH, 1), dtype=np.int64)
    answers = [NamedItems(question="record", reports=np.arange(_BATCH), items=first)]
    return CheckedReports(
        ids=os.urandom(ID_BYTES * _BATCH), tags=os.urandom(TAG_BYTES * _BATCH), answers=answers
    )


def main() -> None:
    """Measure SQLite, print and keep the row."""
    before = os.getloadavg()[0]
    measured = rates()
    for number, rate in enumerate(measured, start=1):
        print(f"{number}: {rate.per_second:,.0f} a second, {rate.per_cpu_second:,.0f} by CPU")
    first, last = measured[0], measured[-1]
    busy = f"load {before:.0f} before"
    keep_rows(
        "service, ids on SQLite",
        "python -m benchmarks.service.growth",
        [
            Goal(
                what=f"Batches, the {MILLIONS}th million ids against the first, by time ({busy})",
                measured=last.per_second / first.per_second,
                at_least=0.7,
            ),
            Goal(
                what=f"Batches, the {MILLIONS}th million ids against the first, by CPU ({busy})",
                measured=last.per_cpu_second / first.per_cpu_second,
                at_least=0.7,
            ),
        ],
    )


if __name__ == "__main__":
    main()
