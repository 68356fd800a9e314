"""Spark engine: tables on a cluster, for the same expressions that DuckDB runs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import narwhals as nw
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from blender_dp.engine.duckdb.readers import LogColumns, LogFormat
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.numbering import counter, numbers_in_partitions, rows_of_partitions
from blender_dp.engine.spark.readers import SparkLog, open_spark_frame, open_spark_log
from blender_dp.engine.spark.readers.failures import explained_failures
from blender_dp.engine.spark.session import SparkSettings, opened_session
from blender_dp.engine.spark.user_rows import SparkUserRows
from blender_dp.engine.tables import Frame


class SparkTables:
    """One log and the tables made from it, in one Spark session."""

    def __init__(self, spark: SparkSession, log: SparkLog, frames: KeptFrames) -> None:
        self._spark = spark
        self._log = log
        self._frames = frames

    @property
    def label(self) -> str:
        """Name of the first file."""
        return self._log.label

    def log(self) -> Frame:
        """Return the log; a user's key is their id itself."""
        return self._frame(self._log.rows)

    def rows_by_user(self) -> SparkUserRows:
        """Bring each user's rows into one partition and sort there; the place is Spark's id."""
        columns: list[Column | str] = ["user_key", "row"]
        if not self._log.has_only_records:  # otherwise no string has to be read
            columns.append(sf.col("query").isNull().alias("is_blank"))
        rows = self._log.rows.select(*columns)
        order = [name for name in ("user_key", "is_blank", "row") if name in rows.columns]
        grouped = rows.repartition("user_key").sortWithinPartitions(*order)
        with self._explained():
            return SparkUserRows.of(self._frames.keep(grouped.withColumn("place", counter())))

    def with_user_id(self, frame: Frame) -> Frame:
        """Add ``user``, which is the key, and ``user_id``, 62 bits of its MD5."""
        digest = sf.md5(sf.col("user_key"))
        # DuckDB reads the digest as a little-endian number: the last byte is the highest.
        high, low = (
            sf.conv(sf.concat(*(sf.substring(digest, 2 * byte + 1, 2) for byte in of)), 16, 10)
            for of in (range(15, 11, -1), range(11, 7, -1))
        )
        user_id = high.cast("bigint") * (1 << 30) + sf.shiftright(low.cast("bigint"), 2)
        native = frame.to_native().withColumns({"user": sf.col("user_key"), "user_id": user_id})
        return self._frame(native)

    def placed(self, users: Frame, order: Sequence[str]) -> Frame:
        """Sort the users over all executors; number them from the number of users per partition."""
        sorted_users = users.to_native().orderBy(*order).withColumn("place", counter())
        kept = self._frames.keep(sorted_users)
        with self._explained():
            counts = rows_of_partitions(kept, "place")
        position = numbers_in_partitions(sf.col("place"), counts)
        return self._frame(kept.withColumn("position", position).drop("place", *order))

    def materialise(self, frame: Frame) -> Frame:
        """Compute ``frame`` and let Spark keep it."""
        with self._explained():
            return self._frame(self._frames.computed(frame.to_native()))

    def keep(self, frame: Frame) -> Frame:
        """Let Spark keep ``frame`` once a query has computed it.

        A join with it must wait until then: Spark does not know how large it is.
        """
        return self._frame(self._frames.keep(frame.to_native()))

    def coded(self, rows: Frame) -> tuple[Frame, None]:
        """Keep query and url: codes would send every row to another executor once more."""
        return self.keep(rows), None

    def free(self, frame: Frame) -> None:
        """Keep it to the end: a frame that Spark computes later may read it."""

    def narrowed(self, kept: Frame, needed: nw.Expr) -> Frame:
        """Filter the kept frame; a copy would be kept beside it."""
        return kept.filter(needed)

    def upload(self, columns: Mapping[str, Sequence[str] | Sequence[int]]) -> Frame:
        """Send a small table to Spark."""
        return self._frame(self._spark.createDataFrame(pa.table(dict(columns))))

    def fetch(self, frame: Frame) -> pa.Table:
        """Run ``frame`` and return its rows."""
        with self._explained():
            return frame.to_native().toArrow()

    def _explained(self) -> AbstractContextManager[None]:
        return explained_failures(self._log.files, self._log.format)

    @staticmethod
    def _frame(native: DataFrame) -> Frame:
        return nw.from_native(native)


@contextmanager
def opened_on_spark(
    paths: Sequence[str | Path],
    log_format: LogFormat,
    columns: LogColumns,
    settings: SparkSettings,
    frame: DataFrame | None = None,
) -> Iterator[tuple[SparkTables, SparkLog]]:
    """Open a log on Spark; frames kept for it are dropped afterwards.

    Args:
        paths: Files, or the name of a table.
        log_format: Their format.
        columns: The columns to read.
        settings: Master and resources.
        frame: A caller's frame in place of files.
    """
    frames = KeptFrames()
    with opened_session(settings) as spark:
        try:
            if frame is None:
                log = open_spark_log(spark, paths, frames, format=log_format, columns=columns)
            else:
                log = open_spark_frame(spark, frame, frames, columns=columns)
            yield SparkTables(spark, log, frames), log
        finally:
            frames.drop_all()
