"""Readers of AOL, CSV and TSV logs on Spark: one row per line (in CSV also several lines)."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, aol
from blender_dp.engine.duckdb.readers.columns import find_columns
from blender_dp.engine.duckdb.readers.delimited import find_delimiter, header_of
from blender_dp.engine.duckdb.readers.failures import check_file
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.readers.beginnings import first_line_of
from blender_dp.engine.spark.readers.failures import refuse_wrong_lines
from blender_dp.engine.spark.readers.lines import CountedLines, LineForm, parsed_lines
from blender_dp.engine.spark.readers.places import NOT_ON_SPARK, LogFile
from blender_dp.engine.spark.readers.quoted import csv_values, is_beyond_a_line, whole_csv
from blender_dp.engine.spark.readers.rows import log_rows

_KEPT = ("file", "start", "id", "is_wrong", "is_beyond")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Properties that files must share to be read together."""

    width: int
    places: tuple[tuple[str, int], ...]


def aol_rows(spark: SparkSession, files: Sequence[LogFile], frames: KeptFrames) -> DataFrame:
    """Return row, user_key, query and url of files as AOL released them."""
    for file in files:
        aol.require_header(file.label, first_line_of(spark, file))
    form = LineForm(
        values=tab_values,
        columns=aol.PLACES,
        is_wrong=lambda values: ~sf.size(values).between(aol.FEWEST_VALUES, aol.MOST_VALUES),
    )
    lines = parsed_lines(spark, files, form)
    lines = lines.withColumn("query", sf.nullif(sf.col("query"), sf.lit(aol.REMOVED)))
    counted = CountedLines.of(log_rows(lines, *_KEPT), frames, files, LogFormat.AOL)
    refuse_wrong_lines(files, counted.wrong, LogFormat.AOL)
    return counted.numbered(files, has_header=True)


def delimited_rows(
    spark: SparkSession,
    files: Sequence[LogFile],
    log_format: LogFormat,
    columns: LogColumns,
    frames: KeptFrames,
) -> DataFrame:
    """Return row, user_key, query, url and perhaps opt_in of CSV or TSV files."""
    layouts: dict[_Layout, list[LogFile]] = {}
    for file in files:
        layouts.setdefault(_layout_of(spark, file, log_format, columns), []).append(file)
    form_of = _csv_form if log_format is LogFormat.CSV else _tsv_form
    counted = CountedLines.of(
        _union([parsed_lines(spark, run, form_of(layout)) for layout, run in layouts.items()]),
        frames,
        files,
        log_format,
    )
    if counted.beyond:
        frames.drop(counted.lines)
        counted = _read_whole(spark, layouts, files, counted, frames)
    else:
        refuse_wrong_lines(files, counted.wrong, log_format)
    return counted.numbered(files, has_header=True)


def tab_values(line: Column) -> Column:
    """Return the values of a tab-separated line."""
    return sf.split(line, "\t")


def _union(parts: Sequence[DataFrame]) -> DataFrame:
    whole, *others = parts
    for part in others:
        whole = whole.unionByName(part)
    return log_rows(whole, *_KEPT)


def _layout_of(
    spark: SparkSession, file: LogFile, log_format: LogFormat, columns: LogColumns
) -> _Layout:
    is_quoted = log_format is LogFormat.CSV
    line = first_line_of(spark, file)
    if is_quoted and (columns.delimiter or find_delimiter(line, columns) or ",") != ",":
        raise InputError(file.label, NOT_ON_SPARK)
    if file.local is not None:
        header = header_of(file.local, is_quoted=is_quoted)
    else:
        header = next(csv.reader([line])) if is_quoted else line.split("\t")
    places = find_columns(file.label, columns, header, may_be_a_row=True)
    return _Layout(width=len(header), places=tuple(places.items()))


def _tsv_form(layout: _Layout) -> LineForm:
    return LineForm(
        values=tab_values,
        columns=dict(layout.places),
        is_wrong=lambda values: sf.size(values) != layout.width,
    )


def _csv_form(layout: _Layout) -> LineForm:
    def is_wrong(values: Column) -> Column:
        surplus = sf.slice(values, sf.lit(layout.width + 1), sf.size(values))
        return (sf.size(values) < layout.width) | sf.exists(surplus, lambda value: value != "")

    return LineForm(
        values=csv_values,
        columns=dict(layout.places),
        is_wrong=is_wrong,
        is_beyond=is_beyond_a_line,
    )


def _read_whole(
    spark: SparkSession,
    layouts: dict[_Layout, list[LogFile]],
    files: Sequence[LogFile],
    first: CountedLines,
    frames: KeptFrames,
) -> CountedLines:
    """Read whole CSV files again, and check those on this machine for errors."""
    for file in files:
        if file.local is not None and file.key in first.wrong | first.beyond:
            check_file(file.local, LogFormat.CSV)
    parts = [
        whole_csv(spark, run, dict(layout.places), layout.width) for layout, run in layouts.items()
    ]
    counted = CountedLines.of(_union(parts), frames, files, LogFormat.CSV)
    remote = [file for file in files if file.local is None]
    if any(file.key in counted.wrong for file in remote):
        raise InputError(remote[0].label, "this file, or another one, is not valid CSV")
    return counted
