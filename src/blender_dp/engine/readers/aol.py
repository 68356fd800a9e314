"""The log AOL released in 2006: one line a query or a click, tab-separated, under a header.

A line without a click has blank ``ItemRank`` and ``ClickURL``, or lacks them. It is no record, and
neither is a line whose query is ``-``, which AOL put where it had removed the query.
"""

from collections.abc import Sequence
from pathlib import Path

from blender_dp.engine.readers.rows import at_line, check_rows, first_line
from blender_dp.engine.readers.sql import log_rows
from blender_dp.engine.readers.tab_separated import column, read_tab_separated

_COLUMNS = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
_REQUIRED = ("AnonID", "Query", "QueryTime")
HEADER = "\t".join(_COLUMNS)


def select_rows(files: Sequence[Path]) -> str:
    """Return the SELECT over files as AOL released them.

    Raises:
        InputError: A file does not begin with AOL's header.
    """
    for path in files:
        if first_line(path) != HEADER:
            names = ", ".join(_COLUMNS)
            raise at_line(path, 1, f"AOL's logs begin with these tab-separated columns: {names}")
    place = {name: column(_COLUMNS.index(name)) for name in _COLUMNS}
    raw = read_tab_separated(
        files,
        select=f"{place['AnonID']} AS \"user\", nullif({place['Query']}, '-') AS query, "
        f"{place['ClickURL']} AS url",
        width=len(_COLUMNS) + 1,
        is_wrong=f"{column(len(_REQUIRED) - 1)} IS NULL OR {column(len(_COLUMNS))} IS NOT NULL",
    )
    return log_rows(raw, row="row_number() OVER () - 1")


def check_file(path: Path) -> None:
    """Raise at the first line that is not as AOL's are.

    Raises:
        InputError: With the file, the line and the rule it breaks.
    """
    check_rows(path, fits=lambda values: len(_REQUIRED) <= len(values) <= len(_COLUMNS))
