"""Opening of a log on Spark: from paths to frames."""

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat
from blender_dp.engine.duckdb.readers.opening import require_named_columns
from blender_dp.engine.spark.keeping import KeptFrames, described_failures
from blender_dp.engine.spark.readers.beginnings import format_of_files
from blender_dp.engine.spark.readers.columnar import frame_rows, parquet_rows, table_rows
from blender_dp.engine.spark.readers.places import (
    NOT_ON_SPARK,
    LogFile,
    find_files,
    size_of,
    table_name,
)
from blender_dp.engine.spark.readers.source import SparkLog
from blender_dp.engine.spark.readers.text_logs import aol_rows, delimited_rows
from blender_dp.engine.spark.readers.yandex_log import yandex_rows
from blender_dp.engine.spark.session import set_partitions

_DEFAULT_COLUMNS = LogColumns()


def open_spark_log(
    spark: SparkSession,
    paths: Sequence[str | Path],
    frames: KeptFrames,
    *,
    format: LogFormat = LogFormat.AUTO,
    columns: LogColumns = _DEFAULT_COLUMNS,
) -> SparkLog:
    """Find the files of a log and return them as a source to scan.

    Args:
        spark: The session that scans it.
        paths: Files, folders and patterns of this machine; paths with a scheme, which are passed to
            Spark unchanged; or one ``table:NAME``.
        frames: Keeps text once it is parsed.
        format: The format of all files; AUTO tells it from their names and first lines.
        columns: The columns to read; AOL's and Yandex's logs have their own.

    Raises:
        InputError: A file is missing or invalid.
        ParameterError: A group column is requested of a format that has none.
    """
    name, files = table_name(paths), tuple[LogFile, ...]()
    if name is not None:
        log_format, label = LogFormat.AUTO, f"table {name}"
        rows, has_only_records = table_rows(spark, name, columns, frames), False
    else:
        files = find_files(spark, paths)
        set_partitions(spark, size_of(spark, files))
        label = _label_of(files)
        log_format = format_of_files(spark, files, columns) if format is LogFormat.AUTO else format
        require_named_columns(log_format, columns)
        rows, has_only_records = _rows_of(spark, files, log_format, columns, frames)
    if columns.group is not None:
        _check_groups(rows, label, columns.group)
    return SparkLog(
        rows=rows, has_only_records=has_only_records, format=log_format, files=files, label=label
    )


def open_spark_frame(
    spark: SparkSession, frame: DataFrame, frames: KeptFrames, *, columns: LogColumns
) -> SparkLog:
    """Return a caller's frame as a source to scan, in a session with settings of its own.

    Args:
        spark: The session that scans it.
        frame: The caller's frame, of another session on the same Spark.
        frames: Keeps its rows, whose numbers must not change.
        columns: The columns to read.

    Raises:
        InputError: A column is missing.
    """
    label, view = "the pyspark table", f"blender_dp_{uuid4().hex}"
    frame.createGlobalTempView(view)  # the only thing that sessions share
    try:
        rows = frame_rows(spark.table(f"global_temp.{view}"), label, columns, frames)
    finally:
        spark.catalog.dropGlobalTempView(view)
    if columns.group is not None:
        _check_groups(rows, label, columns.group)
    return SparkLog(rows=rows, has_only_records=False, format=LogFormat.AUTO, files=(), label=label)


def _rows_of(
    spark: SparkSession,
    files: tuple[LogFile, ...],
    log_format: LogFormat,
    columns: LogColumns,
    frames: KeptFrames,
) -> tuple[DataFrame, bool]:
    match log_format:
        case LogFormat.PARQUET:
            return parquet_rows(spark, files, columns)
        case LogFormat.AOL:
            return aol_rows(spark, files, frames), False
        case LogFormat.YANDEX:
            return yandex_rows(spark, files, frames), False
        case LogFormat.CSV | LogFormat.TSV | LogFormat.AUTO:
            return delimited_rows(spark, files, log_format, columns, frames), False
        case _:
            raise InputError(_label_of(files), NOT_ON_SPARK)


def _label_of(files: tuple[LogFile, ...]) -> str:
    first = str(files[0].label)
    return first if len(files) == 1 else f"{first} or one of the {len(files) - 1} others"


def _check_groups(rows: DataFrame, label: str, group: str) -> None:
    opt_in = sf.col("opt_in")
    users = rows.groupBy("user_key").agg(
        sf.max(opt_in.isNull()).alias("is_unlabelled"),
        (sf.min(opt_in) != sf.max(opt_in)).alias("both"),
    )
    facts = users.agg(
        sf.max("is_unlabelled").alias("is_unlabelled"),
        sf.max(sf.col("both") & sf.col("user_key").isNotNull()).alias("is_in_both"),
    )
    with described_failures():
        [found] = facts.collect()
    if found.is_unlabelled:
        raise InputError(label, f"the group column {group} must be opt-in or client in every row")
    if found.is_in_both:
        rule = f"the group column {group} must have the same value in all rows of a user"
        raise InputError(label, rule)
