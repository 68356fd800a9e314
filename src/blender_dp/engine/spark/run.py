"""A log on Spark from beginning to end: a session, the log in it, and nothing left behind."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from blender_dp.engine.duckdb.readers import LogColumns, LogFormat
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.readers import SparkLog, open_spark_log
from blender_dp.engine.spark.session import SparkSettings, opened_session
from blender_dp.engine.spark.tables import SparkTables


@contextmanager
def opened_on_spark(
    paths: Sequence[str | Path],
    log_format: LogFormat,
    columns: LogColumns,
    settings: SparkSettings,
) -> Iterator[tuple[SparkTables, SparkLog]]:
    """Open a log on Spark; what Spark kept for it is dropped afterwards."""
    frames = KeptFrames()
    with opened_session(settings) as spark:
        try:
            log = open_spark_log(spark, paths, frames, format=log_format, columns=columns)
            yield SparkTables(spark, log, frames), log
        finally:
            frames.drop_all()
