"""Statements of SQLite: the shared ones, without row locks."""

import re
import sqlite3
from collections.abc import Coroutine, Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.server.databases.statements import Answer, Row

_ROW_LOCK = re.compile(r" FOR (?:UPDATE|SHARE)(?: SKIP LOCKED)?")


class SqliteStatements:
    """Statements on the connection of one thread, inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

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


def error_name(error: sqlite3.Error) -> str:
    """Return SQLite's name of an error, or the class of one that Python itself raised."""
    return getattr(error, "sqlite_errorname", type(error).__name__)


def run_synchronously(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine that never waits to its end, in the current thread."""
    try:
        work.send(None)
    except StopIteration as stop:
        return cast("Answer", stop.value)
    work.close()
    raise BrokenInvariantError("a statement of SQLite waited for something else")
