"""Cached frames of a run on Spark, and errors of Spark in words that quote no data."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame

from blender_dp.core.errors import BlenderError

_REPEATING_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Loggers by which PySpark writes messages of exceptions, with rows of data, to standard error."""

_DATASET = "org.apache.spark.sql.classic.Dataset"
"""One name: for ``org.apache.…`` Java would search all its files for a class ``org`` first."""


class KeptFrames:
    """Frames that are computed once and read several times, cached by the executors.

    Frames are cached and not written to files. So the cluster needs no shared file system, and the
    frames of a lost executor are computed again from their input, with the same numbers.
    """

    def __init__(self) -> None:
        self._frames: list[tuple[DataFrame, DataFrame]] = []

    def keep(self, frame: DataFrame) -> DataFrame:
        """Keep ``frame`` once a query has computed it."""
        kept = _as_source(frame.persist(StorageLevel.MEMORY_AND_DISK))
        self._frames.append((kept, frame))
        return kept

    def computed(self, frame: DataFrame) -> DataFrame:
        """Compute ``frame`` now and keep it."""
        kept = self.keep(frame)
        with described_failures():
            kept.count()
        return kept

    def drop(self, frame: DataFrame) -> None:
        """Forget a frame that is no longer needed."""
        for kept, origin in self._frames:
            if kept is frame:
                origin.unpersist()
        self._frames = [pair for pair in self._frames if pair[0] is not frame]

    def drop_all(self) -> None:
        """Forget everything."""
        for _, origin in self._frames:
            origin.unpersist()
        self._frames = []


def _as_source(kept: DataFrame) -> DataFrame:
    """Return a kept frame as a source, without the plan that made it.

    Otherwise Spark would analyse that plan again for every frame derived from this one, which takes
    longer with every step. The cache itself remembers how to compute lost parts again.
    """
    spark: Any = kept.sparkSession
    plan = kept._jdf.queryExecution().withCachedData()
    dataset = getattr(spark._jvm, _DATASET)
    rows = dataset.ofRows(spark._jsparkSession, plan)
    return DataFrame(rows, spark)


@contextmanager
def described_failures() -> Iterator[None]:
    """Replace a Spark error by a sentence without its message, which may quote a row."""
    loggers = [PySparkLogger.getLogger(name) for name in _REPEATING_LOGGERS]
    were_disabled = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    except (PySparkException, Py4JError) as error:
        raise _failure(error) from None
    finally:
        for logger, was_disabled in zip(loggers, were_disabled, strict=True):
            logger.disabled = was_disabled


def _failure(error: Exception) -> BlenderError:
    text = str(error)
    if "No space left" in text:
        return BlenderError("the disk is full: the log's working copy needs more room")
    if "OutOfMemoryError" in text or "UNABLE_TO_ACQUIRE_MEMORY" in text:
        return BlenderError(
            "Spark has too little memory for this log; raise it with --memory-limit (in Python: "
            "Workspace(memory_limit=…)), or with spark.executor.memory on a cluster"
        )
    if "SparkContext was shut down" in text or "stopped SparkContext" in text:
        return BlenderError("the Spark cluster stopped during the run")
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return BlenderError(f"the Spark engine failed ({condition or type(error).__name__})")
