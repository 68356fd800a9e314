"""Rows of a text log, parsed in Python to read a header or to find an invalid row.

DuckDB reads the data. This parser is slow and exact: it reads a whole file only after DuckDB
refused it, or where DuckDB would miss an error.
"""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers.files import LONGEST_LINE_BYTES, text_lines

WRONG_WIDTH = "the row has the wrong number of columns"
_NOT_UTF8 = "the text is not UTF-8; if it is Latin-1, `iconv -f LATIN1 -t UTF-8` converts it"
_BAD_QUOTES = 'the quotes do not match; a quote inside a quoted value is written as ""'
_TOO_LONG = f"the line is longer than {LONGEST_LINE_BYTES} bytes"


def at_line(path: Path | str, number: int, rule: str) -> InputError:
    """Return the error for a line of a file that breaks a rule."""
    return InputError(path, rule, where=f"line {number}")


def first_line(path: Path) -> str:
    """Return the first line of a text log, without its end.

    Raises:
        InputError: The file is empty, or the line is not UTF-8.
    """
    for _, line in _sound_lines(path, keep_line_ends=False):
        return line.removesuffix("\n")
    raise InputError(path, "the file is empty")


def rows_of(
    path: Path, *, is_quoted: bool, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield the values of each row that is not blank, the header included, and its line number.

    Args:
        path: A text log.
        is_quoted: True for CSV; False for TSV, where a quote has no special meaning.
        delimiter: The character between the values of CSV.

    Raises:
        InputError: A line is not UTF-8 or too long, or its quotes do not match.
    """
    if is_quoted:
        yield from _quoted_rows(path, delimiter)
        return
    for number, line in _sound_lines(path, keep_line_ends=False):
        if line != "\n":
            yield number, line.removesuffix("\n").split("\t")


def _quoted_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    lines = (line for _, line in _sound_lines(path, keep_line_ends=True))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    number = 1
    try:
        for values in reader:
            if values:
                yield number, values
            number = reader.line_num + 1
    except csv.Error:
        raise at_line(path, number, _BAD_QUOTES) from None


def check_rows(
    path: Path,
    *,
    fits: Callable[[list[str]], bool],
    rule: str = WRONG_WIDTH,
    is_quoted: bool = False,
    delimiter: str = ",",
) -> None:
    """Read a text log to its end and raise at the first invalid row.

    Raises:
        InputError: With the file, the line and the rule the row breaks.
    """
    with _long_values():
        for number, values in rows_of(path, is_quoted=is_quoted, delimiter=delimiter):
            if not fits(values):
                raise at_line(path, number, rule)


def _sound_lines(path: Path, *, keep_line_ends: bool) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text_lines(path, keep_line_ends=keep_line_ends), start=1):
        try:
            size = len(line) if line.isascii() else len(line.encode())
        except UnicodeEncodeError:
            raise at_line(path, number, _NOT_UTF8) from None
        if size > LONGEST_LINE_BYTES:
            raise at_line(path, number, _TOO_LONG)
        yield number, line


@contextmanager
def _long_values() -> Iterator[None]:
    limit = csv.field_size_limit(LONGEST_LINE_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(limit)
