"""Reader of CSV (RFC 4180) and tab-separated values, both with a header that names the columns.

In CSV a value may stand in quotes, and ``;``, ``|`` or another character may separate the values.
In TSV a quote is a character like any other.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from blender_dp.engine.duckdb.readers.columns import count_columns, find_columns
from blender_dp.engine.duckdb.readers.files import (
    LONGEST_LINE_BYTES,
    Compression,
    chunks,
    compression_of,
)
from blender_dp.engine.duckdb.readers.rows import at_line, check_rows, first_line, rows_of
from blender_dp.engine.duckdb.readers.source import LogColumns, LogFormat
from blender_dp.engine.duckdb.readers.sql import file_list, identifier, log_rows, text_literal
from blender_dp.engine.duckdb.readers.tab_separated import (
    column,
    columns_option,
    read_tab_separated,
)

_DELIMITERS = (",", ";", "|", "\t")
"""Characters that are found without being asked for; of two that fit, the first is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Properties that files must share to be read by one call."""

    width: int
    select: str
    compression: Compression
    has_mixed_line_ends: bool
    delimiter: str


def select_rows(files: Sequence[Path], log_format: LogFormat, columns: LogColumns) -> str:
    """Return the SELECT over CSV or TSV files, whose columns may differ in order.

    Raises:
        InputError: A file lacks a column, or is CSV with mixed line ends and a flaw in it.
    """
    read = _read_csv if log_format is LogFormat.CSV else _read_tsv
    layouts = [(_layout_of(path, log_format, columns), path) for path in files]
    raw = " UNION ALL ".join(
        read(layout, [path for _, path in run])
        for layout, run in groupby(layouts, key=lambda pair: pair[0])
    )
    return log_rows(
        raw,
        row="row_number() OVER () - 1",
        has_group=columns.group is not None,
        has_url=columns.has_url,
    )


def check_file(path: Path, log_format: LogFormat, columns: LogColumns) -> None:
    """Raise at the first row that does not match the header.

    Raises:
        InputError: With the file, the line and the rule it breaks.
    """
    is_quoted = log_format is LogFormat.CSV
    delimiter = delimiter_of(path, columns)
    width = len(header_of(path, is_quoted=is_quoted, delimiter=delimiter))

    def fits(values: list[str]) -> bool:
        # DuckDB accepts surplus values of a CSV row if they are blank; so does this check.
        surplus = values[width:]
        return len(values) >= width and not (any(surplus) if is_quoted else surplus)

    check_rows(path, fits=fits, is_quoted=is_quoted, delimiter=delimiter)


def _layout_of(path: Path, log_format: LogFormat, columns: LogColumns) -> _Layout:
    is_quoted = log_format is LogFormat.CSV
    delimiter = delimiter_of(path, columns)
    header = header_of(path, is_quoted=is_quoted, delimiter=delimiter)
    places = find_columns(path, columns, header, may_be_a_row=True)
    has_mixed_line_ends = is_quoted and _has_mixed_line_ends(path)
    if has_mixed_line_ends:
        # DuckDB refuses such a file in its strict mode. In the other mode it drops text after a
        # closing quote, and reads the rest of the file as one value after an unclosed quote.
        check_file(path, log_format, columns)
    return _Layout(
        width=len(header),
        select=", ".join(f"{column(i)} AS {identifier(name)}" for name, i in places.items()),
        compression=compression_of(path),
        has_mixed_line_ends=has_mixed_line_ends,
        delimiter=delimiter,
    )


def delimiter_of(path: Path, columns: LogColumns) -> str:
    """Return the character between the values of CSV: the one asked for, or found."""
    return columns.delimiter or find_delimiter(first_line(path), columns) or ","


def find_delimiter(line: str, columns: LogColumns) -> str | None:
    """Return the character that separates wanted names in a first line; None if none does.

    >>> find_delimiter("User ID;query;url", LogColumns(user="user_id"))
    ';'
    """
    counts = {d: count_columns(columns, split_header(line, d)) for d in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: counts[delimiter])
    return best if counts[best] > 1 else None


def split_header(line: str, delimiter: str) -> list[str]:
    """Return the names in a first line."""
    return next(csv.reader([line], delimiter=delimiter), [])


def header_of(path: Path, *, is_quoted: bool, delimiter: str = ",") -> list[str]:
    """Return the names of a file's columns.

    Raises:
        InputError: The file is empty or its first line blank.
    """
    if not first_line(path).strip():
        raise at_line(path, 1, "the first line must name the columns, but is blank")
    _, header = next(rows_of(path, is_quoted=is_quoted, delimiter=delimiter))
    return header


def _has_mixed_line_ends(path: Path) -> bool:
    # Reads to the end although the answer is known, to check that a compressed file is whole.
    kinds = set()
    held = b""
    for chunk in chunks(path):
        text = held + chunk
        held = text[-1:] if text.endswith(b"\r") else b""  # its \n may be in the next chunk
        text = text.removesuffix(b"\r")
        pairs = text.count(b"\r\n") if b"\r" in text else 0
        if pairs:
            kinds.add("\r\n")
        if b"\r" in text and text.count(b"\r") > pairs:
            kinds.add("\r")
        if b"\n" in text and (not pairs or text.count(b"\n") > pairs):
            kinds.add("\n")
    return len(kinds | ({"\r"} if held else set())) > 1


def _read_csv(layout: _Layout, files: Sequence[Path]) -> str:
    return (
        # Columns are numbered, names quoted by identifier and paths by file_list.
        f"SELECT {layout.select} FROM read_csv({file_list(files)}, "  # noqa: S608
        f"""delim={text_literal(layout.delimiter)}, quote='"', escape='"', """
        "header=true, auto_detect=false, "
        f"strict_mode={not layout.has_mixed_line_ends}, "
        f"compression='{layout.compression.sql_name}', columns={columns_option(layout.width)}, "
        f"max_line_size={LONGEST_LINE_BYTES}, hive_partitioning=false)"
    )


def _read_tsv(layout: _Layout, files: Sequence[Path]) -> str:
    return read_tab_separated(
        files,
        select=layout.select,
        width=layout.width + 1,
        is_wrong=f"{column(layout.width - 1)} IS NULL OR {column(layout.width)} IS NOT NULL",
    )
