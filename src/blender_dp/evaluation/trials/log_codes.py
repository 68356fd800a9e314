"""Coding of any log as integers.

Strings stay in the database, which spills to disk beyond its memory limit. The integers take about
100 bytes per row while they are sorted. Afterwards they take 8 bytes per row, 16 per distinct
record of a user and 24 per distinct record. A log of 100 million rows therefore needs
about 10 GB of memory.
"""

import narwhals as nw
import numpy as np

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.core.head_list.cells import IntArray
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.population.sampling import MOST_ROWS
from blender_dp.engine.tables import Frame, Tables
from blender_dp.evaluation.trials.coded_log import CodedLog

READING = "read the log"
_COLUMNS = ("user", "query", "url")


def coded(log: Log, workspace: Workspace) -> CodedLog:
    """Read a log and code its users, queries and URLs by the row in which each comes first.

    Users whose rows are not records are kept, as in a run. The same files give the same codes.
    """
    workspace.progress(READING)
    with log.opened(workspace) as (tables, _):
        rows = tables.materialise(tables.log().select("row", *_COLUMNS))
        users = _usable_users(tables, rows)
        coded_rows = rows.filter(~nw.col("query").is_null())
        for name in _COLUMNS:
            coded_rows = coded_rows.join(_first_rows(tables, rows, name), on=name, how="inner")
        wanted = [f"{name}_code" for name in _COLUMNS]
        found = tables.fetch(coded_rows.select("row", *wanted).sort("row").select(*wanted))
    user, query, url = (_integers(found[name]) for name in wanted)
    return CodedLog.of(user, query, url, users_without_records=users - len(np.unique(user)))


def _first_rows(tables: Tables, rows: Frame, name: str) -> Frame:
    """Return every value of a column with its code: the row in which it comes first."""
    values = rows.filter(~nw.col(name).is_null()).group_by(name)
    return tables.materialise(values.agg(nw.col("row").min().alias(f"{name}_code")))


def _integers(column: object) -> IntArray:
    return np.asarray(column, dtype=np.int64)


def _usable_users(tables: Tables, rows: Frame) -> int:
    """Count the users; refuse the same logs as a run, with the same messages."""
    facts = tables.fetch(
        rows.select(
            last_row=nw.col("row").max(),
            nameless=nw.col("user").is_null().cast(nw.Int64).sum(),
            users=nw.col("user").n_unique(),
        )
    )
    last_row, nameless, users = (
        facts[name][0].as_py() for name in ("last_row", "nameless", "users")
    )
    if last_row is None:
        raise InputError(tables.label, "the log is empty: it has no users")
    if nameless:
        raise InputError(tables.label, "every row must name its user, but some do not")
    if last_row >= MOST_ROWS:
        raise ParameterError("rows", f"at most {MOST_ROWS:,} in one log", f"more than {last_row:,}")
    return int(users)
