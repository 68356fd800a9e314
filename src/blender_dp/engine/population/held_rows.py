"""Population of rows that stay in memory: counted by DuckDB, never written to disk."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from blender_dp.core.errors import TooMuchForMemoryError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.duckdb.readers import LogFormat, LogSource
from blender_dp.engine.duckdb.readers.sql import log_rows
from blender_dp.engine.duckdb.tables import DuckDBTables, connect, default_memory_limit
from blender_dp.engine.population.one_side import users_of_side
from blender_dp.engine.population.table_population import TableUsers

_NAME = "held_rows"


@contextmanager
def opened_rows(
    rows: pa.Table,
    randomness: Randomness,
    *,
    records_per_user: int,
    all_rows: bool,
    memory_limit: int | None = None,
) -> Iterator[TableUsers]:
    """Yield the opt-in users of a table; fail rather than write anything to disk.

    Args:
        rows: ``user``, ``query`` and ``url`` as texts. The last two are null in a row that is not a
            record, such as the only row of a user without records.
        randomness: For the secret keys.
        records_per_user: Most records per user that a step will use.
        all_rows: Whether a step will use all rows.
        memory_limit: In bytes; half of the machine's if None.
    """
    connection = connect(None, default_memory_limit() if memory_limit is None else memory_limit)
    try:
        _take(connection, rows)
        source = LogSource(
            sql=log_rows(f"SELECT * FROM {_NAME}", row="number"),  # noqa: S608 - a constant
            has_only_records=False,
            rescans_cheaply=True,
            format=LogFormat.PARQUET,
            files=(),
            bytes=rows.nbytes,
            name="the contributions",
        )
        yield users_of_side(
            DuckDBTables(connection, source),
            "opt-in",
            randomness,
            has_groups=False,
            records_per_user=records_per_user,
            all_rows=all_rows,
        )
    finally:
        connection.close()


def _take(connection: duckdb.DuckDBPyConnection, rows: pa.Table) -> None:
    """Copy the rows into the engine, numbered."""
    connection.register("incoming", rows)
    try:
        connection.execute(
            f"CREATE TABLE {_NAME} AS SELECT row_number() OVER () - 1 AS number, * FROM incoming"  # noqa: S608 - a constant
        )
    except duckdb.OutOfMemoryException:
        raise TooMuchForMemoryError("the memory limit is too small for these rows") from None
    finally:
        connection.unregister("incoming")
