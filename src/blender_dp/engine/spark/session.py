"""Spark session of a run: an existing one, or one started for the run."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from blender_dp.core.errors import BlenderError, MissingExtraError, ParameterError, is_installed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
_JAVA = (
    "Java 17 or newer: apt-get install default-jre-headless, "
    "or set JAVA_HOME to where one is unpacked"
)
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Environment variable that spark-submit sets for its program."""

_PARTITIONS = "spark.sql.shuffle.partitions"
_PART_BYTES, _MOST_PARTS = 32 << 20, 10_000

# Rows are numbered by their places in the files, so every scan must split the files in the same
# way, even if executors come or go.
_FIXED = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.files.maxPartitionBytes": str(128 << 20),
    "spark.sql.files.openCostInBytes": str(4 << 20),
    "spark.sql.autoBroadcastJoinThreshold": str(64 << 20),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """Spark's master, and the resources of this machine that it may use."""

    master: str | None = None
    """Address such as ``spark://host:7077``; None for this machine or an existing session."""
    memory_limit: int
    """Bytes for Spark when it runs on this machine; a cluster has its own settings."""
    spill_directory: Path | None = None


def is_running() -> bool:
    """Tell whether there is a session already: inside spark-submit, or in a notebook."""
    if _SUBMITTED in os.environ:
        return True
    if not is_installed("pyspark"):
        return False
    from pyspark import SparkContext  # noqa: PLC0415 - slow to import, and optional

    return SparkContext._active_spark_context is not None


def require_spark() -> None:
    """Raise if Spark cannot run here; the message says what to install.

    Raises:
        MissingExtraError: PySpark is not installed.
        BlenderError: There is no Java.
    """
    if not is_installed("pyspark"):
        raise MissingExtraError("spark", "--engine spark")
    if is_running():
        return
    if not has_java():
        raise BlenderError(f"--engine spark needs {_JAVA}")


def has_java() -> bool:
    """Tell whether Java is installed where Spark looks for it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") is not None or (
        home is not None and (Path(home) / "bin" / "java").exists()
    )


@contextmanager
def opened_session(settings: SparkSettings) -> Iterator["SparkSession"]:
    """Yield a new session; stop Spark afterwards if it was started here."""
    require_spark()
    if is_running() and settings.master is not None:
        raise ParameterError("master", "left out if Spark runs already", settings.master)
    was_running = is_running()
    with _started(settings) as spark:
        try:
            yield _with_fixed_settings(spark)
        finally:
            if not was_running:
                spark.stop()


@contextmanager
def _started(settings: SparkSettings) -> Iterator["SparkSession"]:
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if is_running():
        yield SparkSession.builder.getOrCreate()
        return
    builder = SparkSession.builder.appName("blender-dp").master(settings.master or LOCAL)
    with as_file(files("blender_dp.engine.spark") / "log4j2.properties") as quiet:
        for name, value in _start_settings(settings, quiet).items():
            builder = builder.config(name, value)
        try:
            spark = builder.getOrCreate()
        except PySparkException as error:
            condition = error.getCondition()
            if condition == "JAVA_GATEWAY_EXITED":
                raise BlenderError(f"Spark does not start; it needs {_JAVA}") from None
            raise BlenderError(f"Spark does not start ({condition})") from None
        except Exception as error:
            if type(error).__module__.startswith("py4j"):
                raise BlenderError("Spark does not start; is the master right?") from None
            raise
        yield spark


def _start_settings(settings: SparkSettings, quiet: Path) -> dict[str, str]:
    """Return the settings of a new session; messages are off because they may quote a log.

    For its messages PySpark would also tell Java, at every expression, which line it stands in.
    """
    chosen = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.driver.extraJavaOptions": " ".join(
            [f"-Dlog4j2.configurationFile={quiet.as_uri()}", os.environ.get("SPARK_JAVA_OPTS", "")]
        ),
    }
    if settings.master is None or settings.master.startswith("local"):
        chosen["spark.driver.memory"] = f"{settings.memory_limit >> 20}m"
        if settings.spill_directory is not None:
            chosen["spark.local.dir"] = str(settings.spill_directory)
    return chosen


def set_partitions(spark: "SparkSession", log_bytes: int) -> None:
    """Set the number of shuffle partitions, unless the user has set it.

    Spark's default of 200 suits no log: a small one is slowed by tasks that do nothing, and
    the parts of a large one are too large for memory.
    """
    if spark.sparkContext.getConf().contains(_PARTITIONS):
        return
    cores = max(spark.sparkContext.defaultParallelism, 1)
    spark.conf.set(_PARTITIONS, str(min(max(log_bytes // _PART_BYTES, 2 * cores), _MOST_PARTS)))


def _with_fixed_settings(spark: "SparkSession") -> "SparkSession":
    """Return a session with its own settings on the same Spark; other sessions keep theirs."""
    own = spark.newSession()
    from pyspark.errors import PySparkException  # noqa: PLC0415

    for name, value in spark.conf.getAll.items():
        with suppress(PySparkException):  # all sessions share such a setting
            own.conf.set(name, value)
    for name, value in _FIXED.items():
        own.conf.set(name, value)
    cores = max(spark.sparkContext.defaultParallelism, 1)
    own.conf.set("spark.sql.files.minPartitionNum", str(cores))
    return own
