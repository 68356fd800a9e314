"""Readers of search logs on Spark: the same rows with the same numbers as those of DuckDB.

``open_spark_log`` finds the files, works out their format and returns a :class:`SparkLog`. Text is
read and parsed once and kept by Spark; Parquet is read again for every scan.
"""

from blender_dp.engine.spark.readers.opening import open_spark_frame, open_spark_log
from blender_dp.engine.spark.readers.source import SparkLog

__all__ = ["SparkLog", "open_spark_frame", "open_spark_log"]
