"""One Spark for all tests of a process, small and quick to start."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.java_gateway import java_import
from pyspark.sql import SparkSession

from blender_dp.engine.spark.session import SparkSettings, opened_session

START_QUICKLY = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m -XX:MetaspaceSize=256m"
)
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    # Compiling code and planning anew take longer than these few rows do without. The test on a
    # cluster does both.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # Every sort, join and group takes a page; of a gigabyte it would be 16 MB, mostly for nothing.
    "spark.buffer.pageSize": "1m",
    # Plans of a thousand queries are kept for a page that nobody looks at.
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
}
_OFTEN_ASKED_FOR = (
    "org.apache.spark.api.python.PythonUtils",
    "org.apache.spark.sql.api.python.PythonSQLUtils",
)
"""Classes that PySpark names without a package: Java searches all files for each that it knows."""


@contextmanager
def spark_for_tests() -> Iterator[SparkSession]:
    """Start Spark on two cores, or take the one that runs."""
    os.environ["SPARK_JAVA_OPTS"] = START_QUICKLY
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    words = " ".join(f"--conf {name}={value}" for name, value in _SETTINGS.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{words} pyspark-shell"
    with opened_session(SparkSettings(master="local[2]", memory_limit=1 << 30)) as spark:
        for name in _OFTEN_ASKED_FOR:
            java_import(spark._jvm, name)
        yield spark
