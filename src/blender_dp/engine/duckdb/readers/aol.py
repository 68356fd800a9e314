"""Reader of the log that AOL released in 2006: tab-separated lines, one per query or click.

A line without a click has blank ``ItemRank`` and ``ClickURL``, or lacks them. Such a line is not a
record. Neither is a line whose query is ``-``: AOL wrote that in place of removed queries.
"""

from collections.abc import Sequence
from pathlib import Path

from blender_dp.engine.duckdb.readers.rows import at_line, check_rows, first_line
from blender_dp.engine.duckdb.readers.sql import log_rows
from blender_dp.engine.duckdb.readers.tab_separated import column, read_tab_separated

_COLUMNS = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
_REQUIRED = ("AnonID", "Query", "QueryTime")
FEWEST_VALUES, MOST_VALUES = len(_REQUIRED), len(_COLUMNS)
HEADER = "\t".join(_COLUMNS)
PLACES = {
    purpose: _COLUMNS.index(name)
    for purpose, name in {"user": "AnonID", "query": "Query", "url": "ClickURL"}.items()
}
REMOVED = "-"
"""Text that AOL wrote in place of removed queries."""


def select_rows(files: Sequence[Path]) -> str:
    """Return the SELECT over files as AOL released them.

    Raises:
        InputError: A file does not begin with AOL's header.
    """
    for path in files:
        require_header(path, first_line(path))
    user, query, url = (column(PLACES[purpose]) for purpose in ("user", "query", "url"))
    raw = read_tab_separated(
        files,
        select=f"{user} AS \"user\", nullif({query}, '{REMOVED}') AS query, {url} AS url",
        width=MOST_VALUES + 1,
        is_wrong=f"{column(FEWEST_VALUES - 1)} IS NULL OR {column(MOST_VALUES)} IS NOT NULL",
    )
    return log_rows(raw, row="row_number() OVER () - 1")


def require_header(label: Path | str, line: str) -> None:
    """Raise unless the first line of a file is AOL's header.

    Raises:
        InputError: With the file and the columns.
    """
    if line != HEADER:
        names = ", ".join(_COLUMNS)
        raise at_line(label, 1, f"AOL's logs begin with these tab-separated columns: {names}")


def check_file(path: Path) -> None:
    """Raise at the first line that is not in AOL's format.

    Raises:
        InputError: With the file, the line and the rule it breaks.
    """
    check_rows(path, fits=lambda values: FEWEST_VALUES <= len(values) <= MOST_VALUES)
