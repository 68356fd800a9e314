"""Reader of Parquet files: columns by name, of any type that has a text form."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import duckdb

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.interruption import interruptible
from blender_dp.engine.duckdb.readers.columns import find_columns
from blender_dp.engine.duckdb.readers.files import naming
from blender_dp.engine.duckdb.readers.source import LogColumns
from blender_dp.engine.duckdb.readers.sql import (
    file_list,
    file_literal,
    identifier,
    log_rows,
    text_of,
)
from blender_dp.engine.duckdb.readers.unpacking.first_bytes import PARQUET, head_of

_UNREADABLE = "it is not a complete Parquet file; it may be cut off or damaged"

# Some writers do not mark texts as texts; a folder named day=1 must not add a column.
_OPTIONS = "binary_as_string=true, hive_partitioning=false"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file: the number of its first row, and its columns with their types."""

    path: Path
    offset: int
    schema: tuple[tuple[str, str], ...]


def select_rows(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], columns: LogColumns
) -> tuple[str, bool]:
    """Return the SELECT over Parquet files, whose columns may differ in order and type.

    Also return whether the files' statistics show that every row is a record.

    Raises:
        InputError: A file is not Parquet or lacks a column.
    """
    parts, filled = examine(connection, files, columns)
    raw = " UNION ALL ".join(
        _read_parquet(list(run), columns) for _, run in groupby(parts, key=lambda part: part.schema)
    )
    has_group, has_url = columns.group is not None, columns.has_url
    sql = log_rows(raw, row='"row"', has_group=has_group, has_url=has_url, never_blank=filled)
    return sql, filled >= ({"query", "url"} if has_url else {"query"})


def examine(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], columns: LogColumns
) -> tuple[list[Part], set[str]]:
    """Return the parts of the log by the files' footers, and which columns are always filled.

    Raises:
        InputError: A file is not Parquet.
    """
    counts = [_row_count(connection, path) for path in files]
    parts = [
        Part(path=path, offset=offset, schema=_schema(connection, path))
        for path, offset in zip(files, accumulate(counts, initial=0), strict=False)
    ]
    filled = set.intersection(*(_filled_columns(connection, path, columns) for path in files))
    return parts, filled


def check_file(path: Path) -> None:
    """Raise if a file cannot be read to its end.

    Raises:
        InputError: With the file and the rule it breaks.
    """
    with duckdb.connect() as connection:
        _ask(
            connection,
            path,
            f"SELECT max(hash(file)) FROM read_parquet({file_literal(path)}, {_OPTIONS}) AS file",  # noqa: S608 quoted path
        )


def _read_parquet(parts: Sequence[Part], columns: LogColumns) -> str:
    schema = parts[0].schema
    names = [name for name, _ in schema]
    places = find_columns(parts[0].path, columns, names, may_be_a_row=False)
    values = ", ".join(
        f"{text_of(*schema[i])} AS {identifier(purpose)}" for purpose, i in places.items()
    )
    # Names are quoted by identifier, paths by file_list, and the rest is numbers.
    return (
        f'SELECT {_row_number(parts)} AS "row", {values} '  # noqa: S608
        f"FROM read_parquet({file_list(part.path for part in parts)}, {_OPTIONS})"
    )


def _row_number(parts: Sequence[Part]) -> str:
    offsets = [part.offset for part in parts]
    names = {name.lower() for name, _ in parts[0].schema}
    if names & {"file_row_number", "file_index"}:
        # A column of this name in the file would hide DuckDB's own.
        return f"row_number() OVER () - 1 + {offsets[0]}"
    if len(offsets) == 1:
        return f"file_row_number + {offsets[0]}"
    # A list is as fast for 400 files as for 2; a CASE of 400 branches takes four times as long.
    return f"file_row_number + ({offsets})[file_index::BIGINT + 1]"


def _row_count(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    with naming(path):
        if path.stat().st_size == 0:
            raise InputError(path, "the file is empty")
    if not head_of(path).startswith(PARQUET):
        raise InputError(path, "it is not a Parquet file")
    literal = file_literal(path)
    [(count,)] = _ask(connection, path, f"SELECT num_rows FROM parquet_file_metadata({literal})")  # noqa: S608 quoted path
    return int(count)


def _filled_columns(
    connection: duckdb.DuckDBPyConnection, path: Path, columns: LogColumns
) -> set[str]:
    """Return which of user, query and url are filled in every row, by the file's statistics.

    A text that sorts at '!' or later is not blank. So the smallest text of a column is enough, and
    the strings of 20 million rows need not be read.
    """
    query = f"""
        SELECT path_in_schema FROM parquet_metadata({file_literal(path)})
        GROUP BY path_in_schema
        HAVING bool_and(coalesce(stats_null_count = 0, false))
           AND bool_and(coalesce(type LIKE 'INT%' OR stats_min_value >= '!', false))
    """  # noqa: S608 quoted path
    filled = {str(name) for (name,) in _ask(connection, path, query)}
    names = names_in(connection, path)
    places = find_columns(path, columns, names, may_be_a_row=False)
    return {purpose for purpose, place in places.items() if names[place] in filled}


def names_in(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Return the names of a file's columns."""
    return [name for name, _ in _schema(connection, path)]


def _schema(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[tuple[str, str], ...]:
    literal = file_literal(path)
    columns = _ask(connection, path, f"DESCRIBE SELECT * FROM read_parquet({literal}, {_OPTIONS})")  # noqa: S608 quoted path
    return tuple((str(name), str(kind)) for name, kind, *_ in columns)


def _ask(connection: duckdb.DuckDBPyConnection, path: Path, sql: str) -> list[tuple[Any, ...]]:
    try:
        with interruptible():
            return connection.execute(sql).fetchall()
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        # DuckDB's message quotes the value that it could not read.
        if "not valid UTF8" in str(error):
            rule = "a text in it is not UTF-8; store bytes that are not text as another type"
            raise InputError(path, rule) from None
        raise InputError(path, _UNREADABLE) from None
