"""Arrow tables of a result, with fixed column types."""

import pyarrow as pa

from blender_dp.core.blender import BlenderResult
from blender_dp.core.estimation.released_rows import Columns, query_rows, record_rows

_TEXT = ("cell", "query", "url")
_COUNTS = ("opt_in_noisy_count", "client_report_count", "relay_report_count")


def record_table(result: BlenderResult) -> pa.Table:
    """Return one row per cell, most probable first; ⋆ rows have null names."""
    return table_of(record_rows(result))


def query_table(result: BlenderResult) -> pa.Table:
    """Return one row per query, most probable first."""
    return table_of(query_rows(result))


def table_of(columns: Columns) -> pa.Table:
    """Return the columns of released rows as a table."""
    return pa.table(columns, schema=pa.schema([(name, _type_of(name)) for name in columns]))


def _type_of(column: str) -> pa.DataType:
    if column in _TEXT:
        return pa.string()
    return pa.int64() if column in _COUNTS else pa.float64()
