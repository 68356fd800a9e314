"""A connection, a way to look at all rows of a log, and one to see it refused."""

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import LogFormat, LogSource, explain_failure, open_log

Row = tuple[int, str | None, str | None, str | None]


@pytest.fixture(scope="session")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Share one database: opening one costs more than most of these tests, and none writes."""
    with duckdb.connect() as opened:
        opened.execute("SET threads = 4")
        yield opened


@pytest.fixture
def rows_of(connection: duckdb.DuckDBPyConnection) -> Callable[[LogSource], list[Row]]:
    """Return row, user, query and url of every row, ordered by row."""

    def read(source: LogSource) -> list[Row]:
        query = f'SELECT "row", "user", query, url FROM ({source.sql}) ORDER BY "row"'  # noqa: S608 our own SELECT
        return connection.execute(query).fetchall()

    return read


@pytest.fixture
def scan(connection: duckdb.DuckDBPyConnection) -> Callable[[LogSource], None]:
    """Read everything, and explain what goes wrong as the engine does."""

    def read(source: LogSource) -> None:
        query = f"SELECT max(row), max(user), max(query), max(url) FROM ({source.sql})"  # noqa: S608
        try:
            connection.execute(query).fetchall()
        except duckdb.Error as error:
            flaw = explain_failure(error, source)
            assert flaw is not None
            raise flaw from None

    return read


@pytest.fixture
def refusal_of(
    connection: duckdb.DuckDBPyConnection, scan: Callable[[LogSource], None]
) -> Callable[..., str]:
    """Return the message with which a log is refused, on opening or on reading.

    The tests plant the word xyzzy wherever a user, a query or a URL is.
    """

    def refuse(path: Path, log_format: LogFormat = LogFormat.AUTO) -> str:
        with pytest.raises(InputError) as refusal:
            scan(open_log(connection, path, format=log_format))
        assert "xyzzy" not in "".join(traceback.format_exception(refusal.value))
        return str(refusal.value)

    return refuse
