"""First lines of files, on this machine or on storage that only Spark reaches."""

from collections.abc import Sequence

from pyspark.sql import SparkSession

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat
from blender_dp.engine.duckdb.readers.detect import common_format, detect_format, text_format
from blender_dp.engine.duckdb.readers.files import PARQUET_SUFFIX, log_suffix
from blender_dp.engine.duckdb.readers.rows import first_line
from blender_dp.engine.spark.keeping import described_failures
from blender_dp.engine.spark.readers.places import LogFile


def first_line_of(spark: SparkSession, file: LogFile) -> str:
    """Return the first line of a text log, without its end.

    Raises:
        InputError: The file is empty.
    """
    if file.local is not None:
        return first_line(file.local)
    with described_failures():
        found = spark.read.text(file.path).head(1)
    if not found:
        raise InputError(file.label, "the file is empty")
    return str(found[0].value)


def format_of_files(
    spark: SparkSession, files: Sequence[LogFile], columns: LogColumns
) -> LogFormat:
    """Return the format that all files are in.

    Raises:
        InputError: A file is in no known format, or in another than the first.
    """
    local = [file.local for file in files if file.local is not None]
    if len(local) == len(files):
        return detect_format(local, columns)
    return common_format((file.label, _format_of(spark, file, columns)) for file in files)


def _format_of(spark: SparkSession, file: LogFile, columns: LogColumns) -> LogFormat:
    suffix = log_suffix(file.name)
    if suffix == PARQUET_SUFFIX:
        return LogFormat.PARQUET
    return text_format(file.label, suffix, first_line_of(spark, file), columns)
