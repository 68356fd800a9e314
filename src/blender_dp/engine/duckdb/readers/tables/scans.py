"""Scans of Arrow, ORC and JSON files and of tables in SQLite and DuckDB databases, by column names.

DuckDB and pyarrow stream all of them, whatever their size. A table of SQLite is copied into this
database once, which spills beyond its memory limit.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.interruption import interruptible
from blender_dp.engine.duckdb.readers.columns import find_columns
from blender_dp.engine.duckdb.readers.files import naming, stored_size
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat
from blender_dp.engine.duckdb.readers.sql import identifier, log_rows, text_of
from blender_dp.engine.duckdb.readers.tables import databases, json_objects

_NAMES = {LogFormat.ARROW: "Arrow", LogFormat.ORC: "ORC"}
_DATASETS = {LogFormat.ARROW: "ipc", LogFormat.ORC: "orc"}
_numbers = count()


class Scan(NamedTuple):
    """What stands after FROM, and the columns with their types."""

    source: str
    schema: tuple[tuple[str, str], ...]


def select_rows(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    log_format: LogFormat,
    columns: LogColumns,
) -> str:
    """Return the SELECT over files of one of these formats, whose columns may differ in order.

    Raises:
        InputError: A file is not in the format, or lacks a column.
    """
    raw = " UNION ALL ".join(_read(connection, path, log_format, columns) for path in files)
    return log_rows(
        raw,
        row="row_number() OVER () - 1",
        has_group=columns.group is not None,
        has_url=columns.has_url,
    )


def names_in(connection: duckdb.DuckDBPyConnection, path: Path, log_format: LogFormat) -> list[str]:
    """Return the names of a file's columns."""
    return [name for name, _ in _scan(connection, path, log_format).schema]


def check_file(path: Path, log_format: LogFormat) -> None:
    """Read a file to its end and raise if that fails.

    Raises:
        InputError: With the file and the rule it breaks.
    """
    if log_format is LogFormat.JSON:
        json_objects.check_file(path)
    elif log_format in _DATASETS:
        try:
            for _ in _dataset(path, log_format).to_batches():
                pass
        except (pa.ArrowException, OSError, ValueError):
            raise _unreadable(path, log_format) from None


def _read(
    connection: duckdb.DuckDBPyConnection, path: Path, log_format: LogFormat, columns: LogColumns
) -> str:
    scan = _scan(connection, path, log_format)
    places = find_columns(path, columns, [name for name, _ in scan.schema], may_be_a_row=False)
    chosen = {purpose: scan.schema[place] for purpose, place in places.items()}
    source = scan.source
    if log_format is LogFormat.JSON:
        source = json_objects.reading(path, [name for name, _ in chosen.values()])
        chosen = {purpose: (name, "VARCHAR") for purpose, (name, _) in chosen.items()}
    if log_format is LogFormat.SQLITE:
        source = _copied(connection, path, sorted({name for name, _ in chosen.values()}))
    values = ", ".join(
        f"{text_of(name, kind)} AS {identifier(purpose)}"
        for purpose, (name, kind) in chosen.items()
    )
    return f"SELECT {values} FROM {source}"  # noqa: S608 - quoted by identifier


def _scan(connection: duckdb.DuckDBPyConnection, path: Path, log_format: LogFormat) -> Scan:
    if stored_size(path) == 0:
        raise InputError(path, "the file is empty")
    match log_format:
        case LogFormat.SQLITE:
            return Scan("", tuple((name, "VARCHAR") for name in databases.sqlite_columns(path)))
        case LogFormat.DUCKDB:
            source = databases.attached(connection, path, f"log_{next(_numbers)}")
        case LogFormat.JSON:
            source = json_objects.sampling(path)
        case _:
            source = f"log_{next(_numbers)}"
            with naming(path):
                connection.register(source, _dataset(path, log_format))
    try:
        with interruptible():
            described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608 - quoted
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error:
        # DuckDB's message quotes the value that it could not read.
        check_file(path, log_format)
        raise _unreadable(path, log_format) from None
    return Scan(source, tuple((str(name), str(kind)) for name, kind, *_ in described))


def _dataset(path: Path, log_format: LogFormat) -> Any:  # noqa: ANN401 - pyarrow is untyped
    # Imported here: few logs need it, and it takes 0.1 s.
    import pyarrow.dataset as ds  # noqa: PLC0415
    from pyarrow.fs import LocalFileSystem  # noqa: PLC0415

    try:
        where = str(path.absolute())
        return ds.dataset(where, format=_DATASETS[log_format], filesystem=LocalFileSystem())
    except (pa.ArrowException, OSError, ValueError):
        raise _unreadable(path, log_format) from None


def _unreadable(path: Path, log_format: LogFormat) -> InputError:
    name = _NAMES.get(log_format, str(log_format))
    return InputError(path, f"it is not a complete {name} file; it may be cut off or damaged")


def _copied(connection: duckdb.DuckDBPyConnection, path: Path, names: Sequence[str]) -> str:
    table = f"log_{next(_numbers)}"
    schema = pa.schema([(name, pa.string()) for name in names])

    def batches() -> Iterator[pa.RecordBatch]:
        for rows in databases.sqlite_rows(path, names):
            yield pa.RecordBatch.from_pylist(
                [dict(zip(names, row, strict=True)) for row in rows], schema=schema
            )

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    try:
        with interruptible():
            connection.register("copied_rows", reader)
            connection.execute(f"CREATE TABLE {table} AS FROM copied_rows")
            connection.unregister("copied_rows")
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error:
        raise InputError(path, "its table cannot be read as texts; it may be damaged") from None
    return table
