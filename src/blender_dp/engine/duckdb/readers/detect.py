"""Detection of a log's format from the names and first lines of its files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import aol, yandex
from blender_dp.engine.duckdb.readers.files import PARQUET_SUFFIX, TEXT_SUFFIXES, log_suffix
from blender_dp.engine.duckdb.readers.parquet import starts_as_parquet
from blender_dp.engine.duckdb.readers.rows import first_line
from blender_dp.engine.duckdb.readers.source import LogFormat


def detect_format(files: Sequence[Path]) -> LogFormat:
    """Return the format that all files are in.

    Raises:
        InputError: A file is in no known format, or in another than the first.
    """
    return common_format((path, _format_of(path)) for path in files)


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
            raise InputError(label, f"{rule}; give files of one format at a time, or --format")
    return log_format


def _format_of(path: Path) -> LogFormat:
    suffix = log_suffix(path)
    if suffix == PARQUET_SUFFIX or starts_as_parquet(path):
        return LogFormat.PARQUET
    return text_format(path, suffix, first_line(path))


def text_format(label: Path | str, suffix: str, line: str) -> LogFormat:
    """Return the format of a text file from the end of its name and its first line."""
    if line == aol.HEADER:
        return LogFormat.AOL
    if yandex.SESSION_LINE.fullmatch(line):
        return LogFormat.YANDEX
    if suffix not in TEXT_SUFFIXES:
        raise InputError(
            label, "neither its name nor its first line tells the format; give --format"
        )
    return LogFormat.CSV if suffix == ".csv" else LogFormat.TSV
