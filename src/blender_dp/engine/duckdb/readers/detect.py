"""Detection of a log's format from the names and first lines of its files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import aol, yandex
from blender_dp.engine.duckdb.readers.delimited import find_delimiter
from blender_dp.engine.duckdb.readers.files import (
    JSON_SUFFIXES,
    PARQUET_SUFFIX,
    TEXT_SUFFIXES,
    log_suffix,
    table_of,
)
from blender_dp.engine.duckdb.readers.rows import first_line
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat
from blender_dp.engine.duckdb.readers.tables.json_objects import begins_as_json
from blender_dp.engine.duckdb.readers.unpacking import first_bytes

_MARKS = {
    first_bytes.PARQUET: LogFormat.PARQUET,
    first_bytes.ARROW: LogFormat.ARROW,
    first_bytes.ORC: LogFormat.ORC,
    first_bytes.SQLITE: LogFormat.SQLITE,
}
_SUFFIXES = {
    PARQUET_SUFFIX: LogFormat.PARQUET,
    ".arrow": LogFormat.ARROW,
    ".feather": LogFormat.ARROW,
    ".orc": LogFormat.ORC,
}
_DEFAULT_COLUMNS = LogColumns()
_GIVEN = "--format (in Python: Log(format=…))"


def detect_format(files: Sequence[Path], columns: LogColumns = _DEFAULT_COLUMNS) -> LogFormat:
    """Return the format that all files are in.

    Raises:
        InputError: A file is in no known format, or in another than the first.
    """
    return common_format((path, _format_of(path, columns)) for path in files)


def common_format(found: Iterable[tuple[Path | str, LogFormat]]) -> LogFormat:
    """Return the format of files, given each file's format and its name for messages.

    Raises:
        InputError: One is in another than the first.
    """
    files = iter(found)
    first, log_format = next(files)
    for label, other in files:
        if other is not log_format:
            rule = f"it looks like {other}, but {first} looks like {log_format}"
            raise InputError(label, f"{rule}; give files of one format at a time, or {_GIVEN}")
    return log_format


def _format_of(path: Path, columns: LogColumns) -> LogFormat:
    suffix, head = log_suffix(path), first_bytes.head_of(path)
    if (columnar := _columnar_format(head)) is not None:
        return columnar
    if table_of(path) is not None:
        raise InputError(path, "only files of SQLite and DuckDB have tables")
    if suffix in _SUFFIXES and (head or suffix == PARQUET_SUFFIX):
        return _SUFFIXES[suffix]
    first_bytes.refuse_unread(path, head)
    if suffix in JSON_SUFFIXES or (suffix not in TEXT_SUFFIXES and begins_as_json(head)):
        return LogFormat.JSON
    return text_format(path, suffix, first_line(path), columns)


def _columnar_format(head: bytes) -> LogFormat | None:
    found = (kind for mark, kind in _MARKS.items() if head.startswith(mark))
    return LogFormat.DUCKDB if first_bytes.is_duckdb(head) else next(found, None)


def text_format(
    label: Path | str, suffix: str, line: str, columns: LogColumns = _DEFAULT_COLUMNS
) -> LogFormat:
    """Return the format of a text file from the end of its name and its first line."""
    if line == aol.HEADER:
        return LogFormat.AOL
    if yandex.SESSION_LINE.fullmatch(line):
        return LogFormat.YANDEX
    delimiter = columns.delimiter or find_delimiter(line, columns)
    if suffix == ".csv" or (delimiter is not None and delimiter != "\t"):
        return LogFormat.CSV
    if suffix not in TEXT_SUFFIXES and delimiter is None:
        raise InputError(
            label, f"neither its name nor its first line tells the format; give {_GIVEN}"
        )
    return LogFormat.TSV
