"""Database in a SQLite file: one writer, several readers, and removal of deleted rows."""

import asyncio
import logging
import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast
from uuid import UUID

from blender_dp.core.errors import InputError
from blender_dp.server.databases import migrations
from blender_dp.server.databases.local_disk import require_local_disk
from blender_dp.server.databases.sqlite_connection import connect
from blender_dp.server.databases.sqlite_scrubbing import empty_log, rewrite
from blender_dp.server.databases.sqlite_statements import (
    SqliteStatements,
    error_name,
    run_synchronously,
)
from blender_dp.server.databases.statements import Answer, Checkpoint, no_checkpoint
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports, Outcome
from blender_dp.service.jobs.backlog import Request
from blender_dp.service.storage.database import Work
from blender_dp.service.storage.sqlite.older_ids import OlderIds
from blender_dp.service.storage.sqlite.transaction import SqliteTransaction
from blender_dp.service.storage.sqlite.writer import Writer
from blender_dp.service.storage.store import Reason, StoreRefusal

_LOG = logging.getLogger(__name__)
_TRIES = 100
"""Attempts to empty the log while there are readers of it."""
_PAUSE = 0.2
"""Seconds between two tries."""
MIGRATIONS = migrations.of_package("blender_dp.service.storage.sqlite")


class SqliteDatabase:
    """A :class:`~blender_dp.service.storage.database.Database` in one file."""

    def __init__(self, path: Path, *, reach: Checkpoint = no_checkpoint) -> None:
        require_local_disk(path)
        self._path = path.absolute()
        writing = connect(path)
        try:
            migrate(writing)
        except sqlite3.OperationalError as error:  # another process locks it too long
            writing.close()
            raise InputError(path, f"cannot be used now ({error})") from None
        except BaseException:
            writing.close()
            raise
        self._opened = self._path.stat()
        self._reading = connect(path, is_reader=True)
        self._older = OlderIds()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="store reader")
        self._writer = Writer(writing, reach, self._older)

    async def read(self, work: Work[Answer]) -> Answer:
        """Run queries on one consistent view of the database."""
        try:
            running = asyncio.get_running_loop().run_in_executor(self._reader, self._answer, work)
        except RuntimeError:  # closed
            raise StoreRefusal(Reason.OVERLOADED) from None
        return await running

    def _answer(self, work: Work[Answer]) -> Answer:
        try:
            self._reading.execute("BEGIN")
            tx = SqliteTransaction(self._reading, no_checkpoint, self._older)
            return run_synchronously(tx.attempt(work))
        except sqlite3.OperationalError as error:  # the disk does not answer
            _LOG.warning("nothing could be read: %s", error_name(error))
            raise StoreRefusal(Reason.OVERLOADED) from None
        finally:
            if self._reading.in_transaction:
                self._reading.execute("ROLLBACK")

    async def write(self, work: Work[Answer]) -> Answer:
        """Do work in a transaction; it is on disk when this returns."""
        return cast("Answer", await self._writer.write(Request(work)))

    async def add_reports(self, campaign_id: UUID, reports: CheckedReports) -> Added:
        """Count a request's reports in a transaction that it may share with other requests."""
        request = Request(None, campaign_id=campaign_id, reports=reports)
        return cast("Added", await self._writer.write(request))

    async def add_singles(self, campaign_id: UUID, reports: CheckedReports) -> Sequence[Outcome]:
        """Count single reports, each by itself, in a transaction that other requests may share."""
        request = Request(None, campaign_id=campaign_id, reports=reports)
        return cast("Sequence[Outcome]", await self._writer.write(request))

    async def scrub(self) -> None:
        """Rewrite the file and empty its log, or refuse while a reader uses the log.

        The log is emptied before and after. The new file is written through the log: without the
        first step, every attempt during a read would make the log longer by a whole file.
        """
        await self._empty_log()
        await self._writer.write(Request(rewrite, is_alone=True))
        await self._empty_log()

    async def _empty_log(self) -> None:
        for _ in range(_TRIES):
            if await self._writer.write(Request(empty_log, is_alone=True)):
                return
            await asyncio.sleep(_PAUSE)
        raise StoreRefusal(Reason.OVERLOADED)

    def scrub_soon(self) -> None:
        """Empty the log of changes, the only place that still holds withdrawn contributions."""
        self._writer.empty_log_soon()

    async def is_in_place(self) -> bool:
        """Tell whether the file is where it was opened.

        If it was moved or replaced, SQLite still uses the old one. The file is not opened for this
        check: closing another descriptor would drop the locks of all connections.
        """
        try:
            found = await asyncio.to_thread(self._path.stat)
        except OSError:
            return False
        return os.path.samestat(found, self._opened)

    async def close(self) -> None:
        """Finish all accepted requests and close every connection."""
        await self._writer.close()
        self._reader.shutdown()
        self._reading.close()


def migrate(connection: sqlite3.Connection, target: int | None = None) -> None:
    """Bring the schema to a version, by default the newest."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        tx = SqliteStatements(connection)
        run_synchronously(migrations.migrate(tx, MIGRATIONS, target))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
