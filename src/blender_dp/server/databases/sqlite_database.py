"""Database in a SQLite file: one thread that writes, another that reads."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.server.databases import migrations
from blender_dp.server.databases.database import Schema, UnavailableError, Work
from blender_dp.server.databases.local_disk import require_local_disk
from blender_dp.server.databases.sqlite_connection import connect
from blender_dp.server.databases.sqlite_scrubbing import empty_log, rewrite
from blender_dp.server.databases.sqlite_statements import SqliteStatements, run_synchronously
from blender_dp.server.databases.statements import Answer


class SqliteDatabase:
    """A :class:`~blender_dp.server.databases.database.Database` in one file."""

    def __init__(self, path: Path, schema: Schema) -> None:
        require_local_disk(path)
        steps = migrations.of_package(f"{schema.package}.sqlite")
        self._writing = connect(path)
        try:
            _in_transaction(self._writing, partial(migrations.migrate, migrations=steps))
        except sqlite3.OperationalError as error:  # another process locks it too long
            self._writing.close()
            raise InputError(path, f"cannot be used now ({error})") from None
        except BaseException:
            self._writing.close()
            raise
        self._reading = connect(path, is_reader=True)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="database writer")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="database reader")

    async def read(self, work: Work[Answer]) -> Answer:
        """Run queries on one consistent view of the database."""
        return await _run(self._reader, lambda: _in_transaction(self._reading, work, "BEGIN"))

    async def write(self, work: Work[Answer]) -> Answer:
        """Do work in a transaction; it is on disk when this returns."""
        return await _run(self._writer, lambda: _in_transaction(self._writing, work))

    async def scrub(self) -> bool:
        """Rewrite the file and empty its log; return False if a reader prevented it."""
        # The log is emptied before too: the new file goes through the log.
        steps: Sequence[Callable[[sqlite3.Connection], bool | None]]
        steps = (empty_log, rewrite, empty_log)
        for step in steps:
            if await _run(self._writer, partial(step, self._writing)) is False:
                return False
        return True

    async def close(self) -> None:
        """Finish the work that was begun and close every connection."""
        for executor, connection in (self._writer, self._writing), (self._reader, self._reading):
            await asyncio.to_thread(executor.shutdown)
            connection.close()


async def _run(executor: ThreadPoolExecutor, work: Callable[[], Answer]) -> Answer:
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, work)
    except sqlite3.OperationalError:  # a full disk, or a long lock elsewhere
        raise UnavailableError from None


def _in_transaction(
    connection: sqlite3.Connection, work: Work[Answer], begin: str = "BEGIN IMMEDIATE"
) -> Answer:
    connection.execute(begin)
    try:
        answer = run_synchronously(_awaited(work, SqliteStatements(connection)))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return answer


async def _awaited(work: Work[Answer], tx: SqliteStatements) -> Answer:
    return await work(tx)
