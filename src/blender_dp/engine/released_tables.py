"""Arrow tables of a result, with fixed column types."""

import numpy as np
import pyarrow as pa

from blender_dp.core.blender import BlenderResult
from blender_dp.core.estimation.released_rows import (
    COLUMN_ORDER,
    Columns,
    query_rows,
    record_rows,
)

_RESTS = {"other_url": 1, "other": 2}
"""Kinds of rows that come last, in this order."""
_TEXT = ("cell", "query", "url")
_COUNTS = ("opt_in_noisy_count", "client_report_count", "relay_report_count")


def record_table(result: BlenderResult) -> pa.Table:
    """Return one row per cell, most probable first; ⋆ rows, which have null names, come last.

    Records of one level are the queries: they have no URL.
    """
    if not result.head_list.has_one_level:
        return table_of(record_rows(result))
    rows = query_rows(result)
    return table_of(rows | {"cell": ["other" if q is None else "record" for q in rows["query"]]})


def query_table(result: BlenderResult) -> pa.Table:
    """Return one row per query, most probable first; everything else comes last."""
    return table_of(query_rows(result))


def table_of(columns: Columns) -> pa.Table:
    """Return the columns of released rows as a table, in the order of all tables.

    The rows of what is not listed come last: first those of a query, then everything else.
    """
    names = sorted(columns, key=_place)
    order = np.argsort([_RESTS.get(str(cell), 0) for cell in columns["cell"]], kind="stable")
    # Lists: sorting a table, or making one of arrays, imports modules for 0.1 s first.
    ordered = {name: [columns[name][row] for row in order.tolist()] for name in names}
    return pa.table(ordered, schema=pa.schema([(name, _type_of(name)) for name in names]))


def _place(column: str) -> tuple[int, str]:
    """Return where a column stands; one that is not known here comes last."""
    is_known = column in COLUMN_ORDER
    return (COLUMN_ORDER.index(column) if is_known else len(COLUMN_ORDER), column)


def _type_of(column: str) -> pa.DataType:
    if column in _TEXT:
        return pa.string()
    return pa.int64() if column in _COUNTS else pa.float64()
