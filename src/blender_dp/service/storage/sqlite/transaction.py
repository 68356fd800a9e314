"""Transactions of SQLite, which run the shared statements."""

import re
import sqlite3
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.service.storage.database import Answer, Checkpoint, Row, Work
from blender_dp.wire.reports.packed_items import ByteArray
from blender_dp.wire.reports.service_report import ID_BYTES

_ROW_LOCK = re.compile(r" FOR (?:UPDATE|SHARE)(?: SKIP LOCKED)?")
# One statement for all ids: Python's lock is released and taken back once, not for every row.
_INSERT_IDS = """
INSERT INTO report_ids (campaign, id, tag)
WITH RECURSIVE place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i + 1 < $3)
SELECT $1, substr($2, 24 * i + 1, 16), substr($2, 24 * i + 17, 8) FROM place
WHERE true ON CONFLICT DO NOTHING
"""
_KNOWN_TAGS = """
WITH RECURSIVE place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i + 1 < $3)
SELECT id, tag FROM place
JOIN report_ids ON campaign = $1 AND id = substr($2, 16 * i + 1, 16)
"""


class SqliteTransaction:
    """Statements on the connection of one thread, inside a transaction."""

    writer = "sqlite"

    def __init__(self, connection: sqlite3.Connection, reach: Checkpoint) -> None:
        self._connection = connection
        self.reach = reach

    async def rows(self, statement: str, *values: object) -> Sequence[Row]:
        """Return the rows that a statement gives."""
        return self._execute(statement, values).fetchall()

    async def run(self, statement: str, *values: object) -> None:
        """Run a statement for its effect."""
        self._execute(statement, values)

    async def run_many(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for every row of values."""
        self._connection.executemany(_without_row_locks(statement), map(_number_values, rows))

    async def run_script(self, script: str) -> None:
        """Run several statements, those of a migration."""
        for statement in _statements(script):
            self._connection.execute(statement)

    async def insert_report_ids(self, campaign: int, rows: ByteArray) -> int:
        """Insert the new ids and return their number."""
        if not len(rows):
            return 0
        before = self._connection.total_changes
        self._execute(_INSERT_IDS, (campaign, rows.tobytes(), len(rows)))
        return self._connection.total_changes - before

    async def known_tags(self, campaign: int, ids: bytes) -> Mapping[bytes, bytes]:
        """Return the tags of the ids that are stored."""
        return dict(self._execute(_KNOWN_TAGS, (campaign, ids, len(ids) // ID_BYTES)).fetchall())

    async def attempt(self, work: Work[Answer]) -> Answer:
        """Run a block; if it fails, undo its changes within the transaction."""
        self._connection.execute("SAVEPOINT attempt")
        try:
            answer = await work(self)
        except sqlite3.OperationalError:
            raise  # an error of the disk, not of the work: the whole transaction is lost
        except BaseException:
            self._connection.execute("ROLLBACK TO attempt")
            self._connection.execute("RELEASE attempt")
            raise
        self._connection.execute("RELEASE attempt")
        return answer

    def _execute(self, statement: str, values: Sequence[object]) -> sqlite3.Cursor:
        return self._connection.execute(_without_row_locks(statement), _number_values(values))


def _number_values(values: Sequence[object]) -> dict[str, object]:
    """Return the values by number, as SQLite takes them for $1, $2 and so on."""
    return {str(place): value for place, value in enumerate(values, start=1)}


@lru_cache(maxsize=256)
def _without_row_locks(statement: str) -> str:
    """Return the statement without row locks, which SQLite does not have: it has one writer."""
    return _ROW_LOCK.sub("", statement)


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements; a semicolon in a trigger or a comment does not end one.

    Python's own ``executescript`` would end the transaction first.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def run_synchronously(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine that never waits to its end, in the current thread."""
    try:
        work.send(None)
    except StopIteration as stop:
        return cast("Answer", stop.value)
    work.close()
    raise BrokenInvariantError("a statement of SQLite waited for something else")
