"""Tables of SQLite and DuckDB databases, named as ``FILE::TABLE``; alone a table needs no name."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import duckdb

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers.files import stored_file, table_of
from blender_dp.engine.duckdb.readers.sql import identifier, text_literal

_ROWS_AT_ONCE = 10_000


def attached(connection: duckdb.DuckDBPyConnection, path: Path, name: str) -> str:
    """Attach a DuckDB database for reading; return its table for a FROM.

    Raises:
        InputError: The file is in use or of another version, or has no such table.
    """
    where = text_literal(str(stored_file(path).absolute()))
    try:
        connection.execute(f"ATTACH {where} AS {name} (READ_ONLY)")
    except duckdb.Error:
        rule = "DuckDB cannot open it: another program writes to it, or its version is newer"
        raise InputError(path, rule) from None
    tables = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 "
        "UNION ALL SELECT schema_name, view_name FROM duckdb_views() "
        "WHERE database_name = $1 AND NOT internal",
        [name],
    ).fetchall()
    known = {table if schema == "main" else f"{schema}.{table}": (schema, table)
             for schema, table in tables}  # fmt: skip
    schema, table = known[_chosen(path, list(known))]
    return f"{name}.{identifier(schema)}.{identifier(table)}"


def sqlite_columns(path: Path) -> list[str]:
    """Return the columns of a table in a SQLite database.

    Raises:
        InputError: The file is damaged, or has no such table.
    """
    with _opened(path) as database:
        described = database.execute(f"SELECT * FROM {_sqlite_table(database, path)} LIMIT 0")  # noqa: S608 - quoted
        return [name for name, *_ in described.description]


def sqlite_rows(path: Path, names: Sequence[str]) -> Iterator[list[tuple[str | None, ...]]]:
    """Yield the rows of a table as texts, some thousand at a time."""
    texts = ", ".join(f"CAST({identifier(name)} AS TEXT)" for name in names)
    with _opened(path) as database:
        rows = database.execute(f"SELECT {texts} FROM {_sqlite_table(database, path)}")  # noqa: S608 - quoted
        while some := rows.fetchmany(_ROWS_AT_ONCE):
            yield some


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(str(stored_file(path).absolute()))}?mode=ro"
    try:
        # Other threads: DuckDB asks for the rows from one of its own.
        with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
            yield database
    except sqlite3.Error:
        raise InputError(path, "SQLite cannot read it; it may be damaged or in use") from None


def _sqlite_table(database: sqlite3.Connection, path: Path) -> str:
    found = database.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    return identifier(_chosen(path, [name for (name,) in found]))


def _chosen(path: Path, tables: Sequence[str]) -> str:
    wanted = table_of(path)
    listed = ", ".join(sorted(tables)) or "none"
    if wanted is None and len(tables) != 1:
        rule = f"it has the tables {listed}; choose one as {stored_file(path).name}::TABLE"
        raise InputError(path, rule if tables else "it has no table")
    if wanted is not None and wanted not in tables:
        raise InputError(path, f"there is no table {wanted} in it, only {listed}")
    return wanted or tables[0]
