"""Explanations of why DuckDB could not read a log.

DuckDB's own messages quote the invalid line, which may hold a user's query. Only a line number is
taken from them; the files are examined here instead.
"""

import re
from pathlib import Path

import duckdb

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import aol, delimited, parquet, yandex
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat, LogSource
from blender_dp.engine.duckdb.readers.tables import scans

_DEFAULT_COLUMNS = LogColumns()
_LINE = re.compile(r"Invalid Input Error: CSV Error on Line: (\d+)")


def explain_failure(error: duckdb.Error, source: LogSource) -> InputError | None:
    """Return the error of a log after a query over it failed.

    Raise it ``from None``: DuckDB's message may quote a user's query. All files are read
    again, up to the first flaw.

    Returns:
        The file, the place and the broken rule; None if no file is at fault.
    """
    if isinstance(error, duckdb.OutOfMemoryException | duckdb.InterruptException):
        return None
    for path in source.parts:
        try:
            with source.stand_ins.named():
                check_file(path, source.format, source.columns)
        except InputError as flaw:
            return flaw
    if (found := _LINE.match(str(error))) is None:
        return None
    rule = f"DuckDB cannot read the row as {source.format}"
    return InputError(source.label, rule, where=f"line {found[1]}")


def check_file(path: Path, log_format: LogFormat, columns: LogColumns = _DEFAULT_COLUMNS) -> None:
    """Read a file to its end and raise at its first flaw.

    Raises:
        InputError: With the file, the place and the rule.
    """
    match log_format:
        case LogFormat.AOL:
            aol.check_file(path)
        case LogFormat.YANDEX:
            yandex.check_file(path)
        case LogFormat.PARQUET:
            parquet.check_file(path)
        case LogFormat.CSV | LogFormat.TSV | LogFormat.AUTO:
            delimited.check_file(path, log_format, columns)
        case _:
            scans.check_file(path, log_format)
