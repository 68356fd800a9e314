"""Slowdown of a store as ids accumulate: each new id goes to another page of the tree."""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.service import campaign
from blender_dp.service.http.reports.checked_reports import TAG_BYTES, CheckedReports
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.wire.reports.service_report import ID_BYTES, NamedItems

MILLIONS = 4
_BATCH, _AT_ONCE = 1_000, 32


def rates(database: str | None = None) -> Sequence[float]:
    """Return the batched reports per second that a store took without HTTP, for every million."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        address = database or str(directory / "service.sqlite")
        collecting = campaign.collecting(directory, address, campaign.head_list("paper"))
        return asyncio.run(_rates(address, collecting))


async def _rates(address: str, collecting: UUID) -> Sequence[float]:
    store = await open_store(address)
    try:
        return [await _rate(store, collecting) for _ in range(MILLIONS)]
    finally:
        await store.close()


async def _rate(store: DatabaseStore, collecting: UUID) -> float:
    batches = iter(range(1_000_000 // _BATCH))

    async def sender() -> None:
        for _ in batches:
            await store.add_reports(collecting, _some_reports())

    began = time.perf_counter()
    await asyncio.gather(*(sender() for _ in range(_AT_ONCE)))
    return 1_000_000 / (time.perf_counter() - began)


def _some_reports() -> CheckedReports:
    """Return reports with new ids that all name the first cell."""
    first = np.zeros((_BATCH, 1), dtype=np.int64)
    answers = [NamedItems(question="record", reports=np.arange(_BATCH), items=first)]
    return CheckedReports(
        ids=os.urandom(ID_BYTES * _BATCH), tags=os.urandom(TAG_BYTES * _BATCH), answers=answers
    )
