"""Reader of Yandex's log on Spark, with the joins of :mod:`engine.duckdb.readers.yandex`."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from blender_dp.engine.duckdb.readers import LogFormat
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.readers.beginnings import first_line_of
from blender_dp.engine.spark.readers.failures import refuse_wrong_lines
from blender_dp.engine.spark.readers.lines import CountedLines, LineForm, parsed_lines
from blender_dp.engine.spark.readers.places import LogFile
from blender_dp.engine.spark.readers.rows import log_rows
from blender_dp.engine.spark.readers.text_logs import tab_values


def yandex_rows(spark: SparkSession, files: Sequence[LogFile], frames: KeptFrames) -> DataFrame:
    """Return row, user_key, query and url of files of the challenge."""
    for file in files:
        first_line_of(spark, file)
    # Read by position, because a column has a different meaning in each kind of line.
    columns = {f"c{place}": place for place in range(5)}
    form = LineForm(values=tab_values, columns=columns, is_wrong=_is_wrong)
    counted = CountedLines.of(parsed_lines(spark, files, form), frames, files, LogFormat.YANDEX)
    refuse_wrong_lines(files, counted.wrong, LogFormat.YANDEX)
    lines = counted.numbered(files, has_header=False)
    rows = frames.computed(log_rows(_joined(lines), "row"))
    frames.drop(counted.lines)
    return rows


def _is_wrong(values: Column) -> Column:
    size, kind = sf.size(values), sf.get(values, sf.lit(2))
    return (
        sf.when(sf.get(values, sf.lit(1)) == "M", size != 4)
        .when(kind == "C", size != 5)
        .when(kind.isin("Q", "T"), size < 6)
        .otherwise(sf.lit(True))
    )


def _joined(lines: DataFrame) -> DataFrame:
    is_session, kind = sf.col("c1") == "M", sf.col("c2")
    sessions = lines.filter(is_session).groupBy("c0").agg(sf.min_by("c3", "row").alias("user"))
    pages = (
        lines.filter(kind.isin("Q", "T"))
        .groupBy("c0", sf.col("c3").alias("page"))
        .agg(sf.min_by("c4", "row").alias("query"))
    )
    wanted = lines.filter(is_session | (kind == "C")).select(
        "row",
        "c0",
        sf.col("c3").alias("page"),
        sf.when(~is_session, sf.col("c4")).alias("url"),
    )
    return wanted.join(sessions, "c0", "left").join(pages, ["c0", "page"], "left")
