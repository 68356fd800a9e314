"""Arrow tables of a result, with fixed column types."""

import pyarrow as pa

from blender_dp.core.blender import BlenderResult
from blender_dp.core.estimation.released_rows import (
    COLUMN_ORDER,
    Columns,
    query_rows,
    record_rows,
)

_TEXT = ("cell", "query", "url")
_COUNTS = ("opt_in_noisy_count", "client_report_count", "relay_report_count")


def record_table(result: BlenderResult) -> pa.Table:
    """Return one row per cell, most probable first; ⋆ rows have null names."""
    return table_of(record_rows(result))


def query_table(result: BlenderResult) -> pa.Table:
    """Return one row per query, most probable first."""
    return table_of(query_rows(result))


def table_of(columns: Columns) -> pa.Table:
    """Return the columns of released rows as a table, in the order of all tables."""
    names = sorted(columns, key=_place)
    return pa.table(columns, schema=pa.schema([(name, _type_of(name)) for name in names]))


def _place(column: str) -> tuple[int, str]:
    """Return where a column stands; one that is not known here comes last."""
    is_known = column in COLUMN_ORDER
    return (COLUMN_ORDER.index(column) if is_known else len(COLUMN_ORDER), column)


def _type_of(column: str) -> pa.DataType:
    if column in _TEXT:
        return pa.string()
    return pa.int64() if column in _COUNTS else pa.float64()
