"""Working out the format of a log from the names of its files and how they begin."""

from collections.abc import Sequence
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.engine.readers import aol, yandex
from blender_dp.engine.readers.files import PARQUET_SUFFIX, TEXT_SUFFIXES, log_suffix
from blender_dp.engine.readers.parquet import starts_as_parquet
from blender_dp.engine.readers.rows import first_line
from blender_dp.engine.readers.source import LogFormat


def detect_format(files: Sequence[Path]) -> LogFormat:
    """Return the format that all files are in.

    Raises:
        InputError: A file is in no known format, or in another than the first.
    """
    first, *others = files
    log_format = _format_of(first)
    for path in others:
        if (other := _format_of(path)) is not log_format:
            rule = f"it looks like {other}, but {first} looks like {log_format}"
            raise InputError(path, f"{rule}; give files of one format at a time, or --format")
    return log_format


def _format_of(path: Path) -> LogFormat:
    suffix = log_suffix(path)
    if suffix == PARQUET_SUFFIX or starts_as_parquet(path):
        return LogFormat.PARQUET
    line = first_line(path)
    if line == aol.HEADER:
        return LogFormat.AOL
    if yandex.SESSION_LINE.fullmatch(line):
        return LogFormat.YANDEX
    if suffix not in TEXT_SUFFIXES:
        raise InputError(
            path, "neither its name nor its first line tells the format; give --format"
        )
    return LogFormat.CSV if suffix == ".csv" else LogFormat.TSV
