"""Tasks that write reports: all waiting requests in one transaction, then all are answered.

Several tasks write at once, in this process and others. Each has its own counters, so that none
waits for another. A writer whose transaction failed starts new counters: the server may still be
committing the old transaction, and the next one must not overtake it.
"""

import asyncio
import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from blender_dp.server.databases.postgres_connection import COLLISION, UNREACHABLE
from blender_dp.server.databases.statements import Checkpoint
from blender_dp.service.http.reports.checked_reports import CheckedReports
from blender_dp.service.jobs.backlog import LINGER_SECONDS, Backlog, Request, settle
from blender_dp.service.storage.postgres.transaction import PostgresTransaction
from blender_dp.service.storage.store import Reason, StoreRefusal
from blender_dp.service.storage.tables import reports

_WRITERS = 2
_TRIES = 5
Outcomes = list[tuple[Request, Any]]


class ReportWriters:
    """The tasks of one process."""

    def __init__(self, pool: Any, reach: Checkpoint) -> None:  # noqa: ANN401 - asyncpg has no types
        self._pool = pool
        self._reach = reach
        self._backlog = Backlog()
        self._is_needed = asyncio.Event()
        self._is_closing = False
        self._tasks = [asyncio.create_task(self._write_until_closed()) for _ in range(_WRITERS)]

    async def write(self, campaign_id: UUID, checked: CheckedReports) -> Any:  # noqa: ANN401
        """Return the outcome of reports once they are on disk; of single ones, one for each."""
        if self._is_closing:
            raise StoreRefusal(Reason.OVERLOADED)
        request = Request(None, campaign_id=campaign_id, reports=checked)
        self._backlog.add(request)
        self._is_needed.set()
        return await request.answer

    async def close(self) -> None:
        """Write all waiting requests, then end."""
        self._is_closing = True
        self._is_needed.set()
        await asyncio.gather(*self._tasks)

    async def _write_until_closed(self) -> None:
        writer = _new_writer()
        while True:
            while group := self._backlog.take():
                outcomes = await self._outcomes(group, writer)
                if outcomes is None:
                    writer = _new_writer()
                    outcomes = [(request, StoreRefusal(Reason.OVERLOADED)) for request in group]
                self._reach("before-answer")
                settle(outcomes)
                if len(group) > 1:
                    await asyncio.sleep(LINGER_SECONDS)
            if self._is_closing:
                return
            self._is_needed.clear()
            await self._is_needed.wait()

    async def _outcomes(self, group: Sequence[Request], writer: str) -> Outcomes | None:
        """Return the outcome of every request, or None if the server's answer was lost."""
        for _ in range(_TRIES):
            try:
                return await self._commit(group, writer)
            except COLLISION:
                continue
            except UNREACHABLE:
                return None
            except Exception as error:  # noqa: BLE001 - passed on to the waiting requests
                return [(request, error) for request in group]
        return None

    async def _commit(self, group: Sequence[Request], writer: str) -> Outcomes:
        outcomes: Outcomes = []
        self._reach("before-begin")
        async with self._pool.acquire() as connection:
            async with connection.transaction():
                tx = PostgresTransaction(connection, self._reach, writer)
                for campaign_id, together in groupby(group, key=lambda one: one.campaign_id):
                    run = list(together)
                    given = [request.reports for request in run if request.reports is not None]
                    added = await reports.add_together(tx, str(campaign_id), given)
                    outcomes += zip(run, added, strict=True)
                self._reach("before-commit")
            self._reach("after-commit")
        return outcomes


def _new_writer() -> str:
    return os.urandom(8).hex()
