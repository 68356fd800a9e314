"""Reader of Parquet files and tables on Spark: columns by name."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import duckdb
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DoubleType, FloatType

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import LogColumns, parquet
from blender_dp.engine.duckdb.readers.columns import find_columns
from blender_dp.engine.spark.keeping import KeptFrames, described_failures
from blender_dp.engine.spark.numbering import counter, numbers_in_partitions, rows_of_partitions
from blender_dp.engine.spark.readers.places import LogFile, key_of
from blender_dp.engine.spark.readers.rows import log_rows

_UNREADABLE = "Spark cannot read it as Parquet; it may be cut off or damaged"


def parquet_rows(
    spark: SparkSession, files: Sequence[LogFile], columns: LogColumns
) -> tuple[DataFrame, bool]:
    """Return row, user_key, query, url and perhaps opt_in, and whether every row is a record."""
    alike, filled = _groups(files, columns)
    parts = [_read(spark, run, columns) for run in alike]
    whole, *others = parts
    for part in others:
        whole = whole.unionByName(part)
    numbered = _numbered(whole, files)
    record = {"query", "url"} if columns.has_url else {"query"}
    return log_rows(numbered, "row", never_blank=filled), filled >= record


def table_rows(
    spark: SparkSession, name: str, columns: LogColumns, frames: KeptFrames
) -> DataFrame:
    """Return the same columns of a table; its rows have no order, so their numbers are kept."""
    label = f"table {name}"
    try:
        table = spark.table(name)
    except PySparkException:
        raise InputError(label, "there is no such table in Spark's catalogue") from None
    return frame_rows(table, label, columns, frames)


def frame_rows(frame: DataFrame, label: str, columns: LogColumns, frames: KeptFrames) -> DataFrame:
    """Return the same columns of a frame; its rows have no order, so their numbers are kept."""
    raw = log_rows(_wanted(frame, label, columns), counter().alias("id"))
    kept = frames.keep(raw)
    with described_failures():
        counts = rows_of_partitions(kept, "id")
    return kept.withColumn("row", numbers_in_partitions(sf.col("id"), counts)).drop("id")


def _groups(files: Sequence[LogFile], columns: LogColumns) -> tuple[list[list[LogFile]], set[str]]:
    """Return files in groups of one schema, and the columns that are filled by their footers."""
    by_path = {file.local: file for file in files if file.local is not None}
    if len(by_path) < len(files):  # on remote storage: this process cannot read the footers
        return [list(files)], set()
    groups: dict[object, list[LogFile]] = {}
    with duckdb.connect() as connection:
        parts, filled = parquet.examine(connection, list(by_path), columns)
    for part in parts:
        groups.setdefault(part.schema, []).append(by_path[part.path])
    return list(groups.values()), filled


def _read(spark: SparkSession, files: Sequence[LogFile], columns: LogColumns) -> DataFrame:
    try:
        frame = spark.read.parquet(*(file.path for file in files))
    except PySparkException:
        raise InputError(files[0].label, _UNREADABLE) from None
    return _wanted(
        frame,
        files[0].label,
        columns,
        sf.col("_metadata.file_path").alias("file"),
        sf.col("_metadata.row_index").alias("row_in_file"),
    )


def _wanted(frame: DataFrame, label: Path | str, columns: LogColumns, *also: Column) -> DataFrame:
    places = find_columns(label, columns, frame.columns, may_be_a_row=False)
    names = {purpose: frame.columns[place] for purpose, place in places.items()}
    return frame.select(*also, *(_text_of(frame, name).alias(use) for use, name in names.items()))


def _text_of(frame: DataFrame, name: str) -> Column:
    """Return a column as text; NaN is a missing value."""
    quoted = sf.col("`" + name.replace("`", "``") + "`")
    is_float = isinstance(frame.schema[name].dataType, FloatType | DoubleType)
    return sf.when(~sf.isnan(quoted), quoted.cast("string")) if is_float else quoted.cast("string")


def _numbered(rows: DataFrame, files: Sequence[LogFile]) -> DataFrame:
    """Return the rows numbered over all files; Spark counts the rows of each."""
    if len(files) == 1:
        return rows.withColumnRenamed("row_in_file", "row")
    with described_failures():
        counts = {row.file: row["count"] for row in rows.groupBy("file").count().collect()}
    addresses = {key_of(address): address for address in counts}
    order = [addresses[file.key] for file in files if file.key in addresses]
    offsets = list(accumulate((counts[address] for address in order), initial=0))[:-1]
    table = pa.table(
        {"file": pa.array(order, pa.string()), "offset": pa.array(offsets, pa.int64())}
    )
    places = sf.broadcast(rows.sparkSession.createDataFrame(table))
    return rows.join(places, "file").withColumn("row", sf.col("row_in_file") + sf.col("offset"))
