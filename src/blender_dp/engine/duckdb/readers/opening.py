"""Opening of a log: from paths to a SELECT that scans it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.engine.duckdb.interruption import interruptible
from blender_dp.engine.duckdb.readers import aol, delimited, parquet, yandex
from blender_dp.engine.duckdb.readers.columns import find_spellings
from blender_dp.engine.duckdb.readers.detect import detect_format
from blender_dp.engine.duckdb.readers.failures import explain_failure
from blender_dp.engine.duckdb.readers.files import check_packing, find_log_files, stored_size
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat, LogSource
from blender_dp.engine.duckdb.readers.tables import frames, scans
from blender_dp.engine.duckdb.readers.unpacking.stand_ins import StandIns

_NAMELESS = (LogFormat.AOL, LogFormat.YANDEX)
_RESCANNED = (
    LogFormat.PARQUET,
    LogFormat.ARROW,
    LogFormat.ORC,
    LogFormat.SQLITE,
    LogFormat.DUCKDB,
)
_DEFAULT_COLUMNS = LogColumns()


def open_log(
    connection: duckdb.DuckDBPyConnection,
    paths: str | Path | Sequence[str | Path],
    *,
    format: LogFormat = LogFormat.AUTO,
    columns: LogColumns = _DEFAULT_COLUMNS,
    stand_ins: StandIns | None = None,
) -> LogSource:
    """Find the files of a log and return them as a source to scan.

    Reads the first line of every file, or its Parquet footer. Unpacks compressed files once to
    check that they are whole. With a group column, reads that column and the users. For the rows
    to be numbered in file order, ``preserve_insertion_order`` must be on, as it is by default.

    Args:
        connection: The database in which the SELECT will run.
        paths: Files, folders and glob patterns.
        format: The format of all files; AUTO tells it from their names and first lines.
        columns: The columns to read; AOL's and Yandex's logs have their own.
        stand_ins: For files that must be unpacked first; they end with the source if left out.

    Raises:
        InputError: A file is missing or invalid.
        ParameterError: A group column is requested of a format that has none.
    """
    files = find_log_files(paths)
    stand_ins = stand_ins or StandIns()
    with stand_ins.named():
        parts = stand_ins.of(files)
        log_format = detect_format(parts, columns) if format is LogFormat.AUTO else format
        require_named_columns(log_format, columns)
        source = replace(
            _source_of(connection, parts, log_format, columns),
            files=files,
            stand_ins=stand_ins,
            found=_found(connection, parts[0], log_format, columns),
        )
        if columns.group is not None:
            _check_groups(connection, source, columns)
    return source


def open_table(
    connection: duckdb.DuckDBPyConnection, frame: frames.Frame, columns: LogColumns
) -> LogSource:
    """Return a table of another library as a source to scan.

    Raises:
        InputError: A column is missing or invalid.
    """
    source = frames.open_frame(connection, frame, columns)
    if columns.group is not None:
        _check_groups(connection, source, columns)
    return source


def _found(
    connection: duckdb.DuckDBPyConnection, path: Path, log_format: LogFormat, columns: LogColumns
) -> dict[str, str]:
    match log_format:
        case LogFormat.AOL | LogFormat.YANDEX:
            return {}
        case LogFormat.CSV | LogFormat.TSV:
            delimiter = delimited.delimiter_of(path, columns)
            is_quoted = log_format is LogFormat.CSV
            names = delimited.header_of(path, is_quoted=is_quoted, delimiter=delimiter)
        case LogFormat.PARQUET:
            names = parquet.names_in(connection, path)
        case _:
            names = scans.names_in(connection, path, log_format)
    return find_spellings(columns, names)


def require_named_columns(log_format: LogFormat, columns: LogColumns) -> None:
    """Refuse a group column, or one level, for a format with fixed columns.

    Raises:
        ParameterError: A format with fixed columns is asked for other ones.
    """
    if log_format not in _NAMELESS:
        return
    if columns.group is not None:
        raise ParameterError("group", f"left out for the {log_format} format", columns.group)
    if not columns.has_url:
        rule = f"left as it is for the {log_format} format, whose records have two levels"
        raise ParameterError("url", rule, None)


def _source_of(
    connection: duckdb.DuckDBPyConnection,
    files: tuple[Path, ...],
    log_format: LogFormat,
    columns: LogColumns,
) -> LogSource:
    has_only_records = False
    match log_format:
        case LogFormat.PARQUET:
            sql, has_only_records = parquet.select_rows(connection, files, columns)
        case LogFormat.AOL:
            sql = aol.select_rows(files)
        case LogFormat.YANDEX:
            sql = yandex.select_rows(files)
        case LogFormat.CSV | LogFormat.TSV | LogFormat.AUTO:
            sql = delimited.select_rows(files, log_format, columns)
        case _:
            sql = scans.select_rows(connection, files, log_format, columns)
    if log_format not in (LogFormat.PARQUET, LogFormat.CSV):
        check_packing(files)  # the readers of Parquet and CSV check that
    return LogSource(
        sql=sql,
        has_only_records=has_only_records,
        rescans_cheaply=log_format in _RESCANNED,
        format=log_format,
        files=files,
        parts=files,
        columns=columns,
        bytes=sum(stored_size(path) for path in files),
    )


def _check_groups(
    connection: duckdb.DuckDBPyConnection, source: LogSource, columns: LogColumns
) -> None:
    query = f"""
        SELECT coalesce(sum(unlabelled), 0) > 0, coalesce(bool_or(in_both), false) FROM (
            SELECT count(*) FILTER (opt_in IS NULL) AS unlabelled,
                   "user" IS NOT NULL AND min(opt_in) <> max(opt_in) AS in_both
            FROM ({source.sql}) GROUP BY "user"
        )
    """  # noqa: S608 the SELECT is our own
    is_unlabelled, is_in_both = _ask(connection, source, query)
    if is_unlabelled:
        raise _first_unlabelled(connection, source, columns)
    if is_in_both:
        rule = f"the group column {columns.group} must have the same value in all rows of a user"
        raise InputError(source.label, rule)


def _first_unlabelled(
    connection: duckdb.DuckDBPyConnection, source: LogSource, columns: LogColumns
) -> InputError:
    rule = f"the group column {columns.group} must be opt-in or client in every row"
    for path in source.parts:
        alone = _source_of(connection, (path,), source.format, columns)
        query = f'SELECT min("row") FROM ({alone.sql}) WHERE opt_in IS NULL'  # noqa: S608 our own
        (row,) = _ask(connection, replace(source, parts=(path,)), query)
        if isinstance(row, int):
            return InputError(path, rule, where=f"row {row + 1}")
    return InputError(source.label, rule)


def _ask(
    connection: duckdb.DuckDBPyConnection, source: LogSource, query: str
) -> tuple[object, ...]:
    try:
        with interruptible():
            [answer] = connection.execute(query).fetchall()
    except duckdb.Error as error:
        flaw = explain_failure(error, source)
        if flaw is None:
            raise
        raise flaw from None
    return tuple(answer)
