"""A process that is killed at any point of a write loses nothing that it acknowledged."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest

from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from campaign_stores import POINTS, opened_for_clients, some_reports

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
WRITES = 12
"""The kill comes at the twelfth write, when several requests share a transaction."""


async def acknowledged(address: str, campaign: UUID, point: str, *how: str) -> list[int]:
    """Return the numbers that a process acknowledged before it was killed."""
    command = [sys.executable, HERE / "uploading_process.py", address, campaign, point, WRITES]
    done = await asyncio.to_thread(
        subprocess.run,
        [*map(str, command), *how],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    return [int(line) for line in done.stdout.split()]


async def assert_each_counted_once(
    store: DatabaseStore, campaign: UUID, acknowledged: Sequence[int]
) -> None:
    """Fail if an acknowledged report is missing, or if any counts twice once all are sent again."""
    # As many more may have been under way as there were uploaders.
    everything = range(max(acknowledged) + 20)
    added = [
        await store.add_reports(campaign, some_reports([number], cells=[number % 7]))
        for number in everything
    ]
    lost = [number for number in acknowledged if not added[number].repeated]
    assert not lost, f"{len(lost)} acknowledged reports are lost"
    counts = await store.report_counts(campaign)
    assert counts.cell_reports == len(everything)
    expected = [len([n for n in everything if n % 7 == cell]) for cell in range(7)]
    assert counts.cells.tolist() == expected


@pytest.mark.parametrize("point", POINTS)
async def test_what_was_acknowledged_is_counted_once(address: str, point: str) -> None:
    store = await open_store(address)
    campaign = await opened_for_clients(store)
    await store.close()
    known = await acknowledged(address, campaign, point)
    assert len(known) > WRITES
    store = await open_store(address)
    await assert_each_counted_once(store, campaign, known)
    await store.close()


async def test_an_acknowledgement_before_the_commit_would_be_caught(address: str) -> None:
    """The test above has teeth: who answers too early loses reports, and it says so."""
    store = await open_store(address)
    campaign = await opened_for_clients(store)
    await store.close()
    claimed = await acknowledged(address, campaign, "before-commit", "early")
    store = await open_store(address)
    with pytest.raises(AssertionError, match="acknowledged reports are lost"):
        await assert_each_counted_once(store, campaign, claimed)
    await store.close()
