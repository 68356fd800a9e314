"""Logs of any length for the measurements on Spark: forty rows per user, as in ``big_log``."""

from pathlib import Path

import duckdb

from benchmarks.big_log import LOGS

ROWS_A_USER = 40
_SQL = """
COPY (
    SELECT 'user' || (hash(i, 1) % {users}) AS user,
           'query number ' || q AS query, 'www.site' || q || '.example/' || u AS url
    FROM (
        SELECT i, (exp(ln({queries} + 1) * power(hash(i, 2) / 2.0 ** 64, 1.3)) - 1)::BIGINT AS q,
               (9 * power(hash(i, 3) / 2.0 ** 64, 3))::BIGINT AS u
        FROM range({rows}) AS t(i)
    )
) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 500000)
"""


def spark_log(rows: int) -> Path:
    """Return a Parquet log of this many rows, made once and kept."""
    path = LOGS / f"spark-{rows}.parquet"
    if not path.exists():
        LOGS.mkdir(exist_ok=True)
        partial = path.with_suffix(".partial")
        sql = _SQL.format(
            rows=rows, users=rows // ROWS_A_USER, queries=rows // 10, path=partial.as_posix()
        )
        duckdb.execute(sql)
        partial.rename(path)
    return path
