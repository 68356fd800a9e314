"""Reader of the log of Kaggle's Personalized Web Search Challenge, released by Yandex.

No header; three kinds of tab-separated lines::

    SessionID  M  Day  USERID
    SessionID  TimePassed  Q or T  SERPID  QueryID  ListOfTerms  URLID,DomainID (ten of these)
    SessionID  TimePassed  C  SERPID  URLID

Every click (C) becomes the record ⟨QueryID, URLID⟩: the query is that of the line with the same
SessionID and SERPID, the user that of the session's M line. A click on a results page without a
query line is not a record. Every M line also gives a row that is not a record, so that a user who
never clicked is still counted. If a session or a results page is described twice, the first line
counts. ``row`` is the number of the line, so the numbers have gaps where
the query lines are.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from blender_dp.engine.duckdb.readers.rows import check_rows, first_line
from blender_dp.engine.duckdb.readers.sql import log_rows
from blender_dp.engine.duckdb.readers.tab_separated import column, read_tab_separated

SESSION_LINE = re.compile(r"\d+\tM\t\d+\t\d+")

# Read by position, because a column has a different meaning in each kind of line.
_IS_WRONG = """
CASE WHEN c1 = 'M' THEN c3 IS NULL OR c4 IS NOT NULL
     WHEN c2 = 'C' THEN c4 IS NULL OR c5 IS NOT NULL
     WHEN c2 IN ('Q', 'T') THEN c5 IS NULL
     ELSE true END
"""
_WIDTH = 6
_RULE = "the line is not one of Yandex's: M with 4 values, Q or T with 6 and more, C with 5"


def select_rows(files: Sequence[Path]) -> str:
    """Return the SELECT over files of the challenge.

    Raises:
        InputError: A file is empty.
    """
    for path in files:
        first_line(path)
    values = ", ".join(column(i) for i in range(_WIDTH))
    lines = read_tab_separated(
        files, select=values, width=_WIDTH, is_wrong=_IS_WRONG, has_header=False
    )
    # The lines are read three times instead of being kept: they are most of the log, and each pass
    # needs few of their columns. The text is constant but for the lines' own SELECT.
    raw = f"""
        WITH lines AS NOT MATERIALIZED (
            SELECT row_number() OVER () - 1 AS line, {values} FROM ({lines})
        ), sessions AS (
            SELECT c0 AS session, arg_min(c3, line) AS "user"
            FROM lines WHERE c1 = 'M' GROUP BY c0
        ), pages AS (
            SELECT c0 AS session, c3 AS page, arg_min(c4, line) AS query
            FROM lines WHERE c2 IN ('Q', 'T') GROUP BY c0, c3
        )
        SELECT line, sessions."user", pages.query, CASE WHEN c1 <> 'M' THEN c4 END AS url
        FROM lines
        LEFT JOIN sessions ON sessions.session = c0
        LEFT JOIN pages ON pages.session = c0 AND pages.page = c3
        WHERE c1 = 'M' OR c2 = 'C'
    """  # noqa: S608
    return log_rows(raw, row="line")


def check_file(path: Path) -> None:
    """Raise at the first line that is of no known kind.

    Raises:
        InputError: With the file, the line and the rule it breaks.
    """
    check_rows(path, fits=_is_line, rule=_RULE)


def _is_line(values: list[str]) -> bool:
    match values:
        case [_, "M", _, _] | [_, _, "C", _, _]:
            return True
        case [_, time, "Q" | "T", _, _, _, *_]:
            return time != "M"
    return False
