"""Removal of deleted rows from PostgreSQL's files.

``VACUUM`` alone frees space without overwriting it, so tables are rewritten (``VACUUM FULL``).
Deleted rows that an older snapshot may still see, for instance that of a dump, are copied too. The
server reports their number, and the table is rewritten again later.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import asyncpg

from blender_dp.server.databases.postgres_connection import UNREACHABLE
from blender_dp.service.storage.store import Reason, StoreRefusal

EVERYTHING = ("contributions", "enrolments", "report_ids", "counters")
_OF_OPT_IN_USERS = ("contributions", "enrolments")
_TRIES = 20
_PAUSE = 0.5
"""Seconds between two tries."""
_LOCK_TIMEOUT = "2s"
"""Longest wait of a rewrite for its table; all later requests for the table wait with it."""
_LONGEST_SECONDS = 24 * 3600.0
"""Time limit of a rewrite; a large table takes longer than any other command may."""
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
    """Rewrite a table; return False if it was locked, or if a snapshot still sees deleted rows."""
    kept: list[int] = []

    def listen(_connection: object, message: Any) -> None:  # noqa: ANN401 - as above
        # "2 dead row versions cannot be removed yet", in the server's language.
        if found := re.match(r"\D*(\d+)", message.detail or ""):
            kept.append(int(found[1]))

    try:
        async with pool.acquire() as connection:
            connection.add_log_listener(listen)
            await connection.execute(f"SET lock_timeout = '{_LOCK_TIMEOUT}'")
            try:
                command = f"VACUUM (FULL, VERBOSE) {table}"
                await connection.execute(command, timeout=_LONGEST_SECONDS)
            except asyncpg.LockNotAvailableError:
                return False
            finally:
                with suppress(*UNREACHABLE):
                    connection.remove_log_listener(listen)
                    await connection.execute("RESET lock_timeout")
    except UNREACHABLE:
        raise StoreRefusal(Reason.OVERLOADED) from None
    return not any(kept)


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
