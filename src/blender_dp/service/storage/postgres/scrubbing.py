"""Removal of deleted rows from PostgreSQL's files: tables are rewritten until none is left."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from blender_dp.server.databases.postgres_connection import UNREACHABLE
from blender_dp.server.databases.postgres_rewriting import is_rewritten
from blender_dp.service.storage.store import Reason, StoreRefusal

EVERYTHING = ("contributions", "enrolments", "report_ids", "relayed_pieces", "counters")
_OF_OPT_IN_USERS = ("contributions", "enrolments")
_TRIES = 20
_PAUSE = 0.5
"""Seconds between two tries."""
_SHARE = 0.1
"""Largest share of the time spent on removing withdrawn rows: tables are locked during it."""
_LONGEST_PAUSE = 30.0


async def scrub(pool: Any, tables: Sequence[str] = EVERYTHING) -> None:  # noqa: ANN401 - no types
    """Rewrite tables until no deleted row is left in them, or refuse for now."""
    left = list(tables)
    for _ in range(_TRIES):
        left = [table for table in left if not await _is_rewritten(pool, table)]
        if not left:
            return
        await asyncio.sleep(_PAUSE)
    raise StoreRefusal(Reason.OVERLOADED)


async def _is_rewritten(pool: Any, table: str) -> bool:  # noqa: ANN401 - as above
    try:
        return await is_rewritten(pool, table)
    except UNREACHABLE:
        raise StoreRefusal(Reason.OVERLOADED) from None


class WithdrawalScrubber:
    """Removes withdrawn rows in the background, soon after the withdrawal."""

    def __init__(self, pool: Any) -> None:  # noqa: ANN401 - as above
        self._pool = pool
        self._is_due = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start the removal soon; it covers everything withdrawn until then."""
        self._is_due.set()
        if self._task is None:
            self._task = asyncio.create_task(self._scrub_when_due())

    async def close(self) -> None:
        """Stop; the next withdrawal, or publishing the list, removes the rows that are left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _scrub_when_due(self) -> None:
        while True:
            await self._is_due.wait()
            self._is_due.clear()
            started = time.monotonic()
            try:
                await scrub(self._pool, _OF_OPT_IN_USERS)
            except StoreRefusal:
                self._is_due.set()
            taken = time.monotonic() - started
            await asyncio.sleep(min(_PAUSE + taken / _SHARE, _LONGEST_PAUSE))
