"""Result of the readers on Spark: a log that can be scanned."""

from dataclasses import dataclass

from pyspark.sql import DataFrame

from blender_dp.engine.duckdb.readers import LogFormat
from blender_dp.engine.spark.readers.places import LogFile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparkLog:
    """A log that Spark can scan, any number of times, with the same numbers each time."""

    rows: DataFrame
    """Row, user, user_key, query, url and, with a group column, opt_in: as LogSource has them."""
    has_only_records: bool
    """Whether the files show, without a scan, that every row is a record."""
    format: LogFormat
    files: tuple[LogFile, ...]
    """Files of the log; None for a table."""
    label: str
    """Name of the log for messages."""
