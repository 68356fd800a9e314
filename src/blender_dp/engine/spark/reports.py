"""Counts of the items that private reports name, computed on Spark.

Only Spark's own functions run on the executors, so that nothing has to be installed there. A report
names its items in bytes (wire format). It becomes a list of symbols, and symbols are counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from blender_dp.core.errors import HeadListMismatchError, InputError, UnknownReportError
from blender_dp.engine.spark.keeping import described_failures
from blender_dp.engine.spark.readers.places import find_files

FileKind = Literal["json", "parquet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedForm:
    """Format of the answers to one question: a list of numbers, or a bitmap."""

    size: int
    subset_size: int
    bits_per_item: int
    is_bitmap: bool
    length: int

    def symbols(self, items: Column) -> Column:
        """Return a report's items, or the bytes of a bitmap, each plus 256·place."""
        if not self.length:
            return sf.array().cast("array<int>")
        if self.is_bitmap:
            places = sf.sequence(sf.lit(0), sf.lit(max(self.length - 1, 0)))
            return sf.transform(places, lambda place: place * 256 + _bits(items, place * 8, 8))
        width = self.bits_per_item
        places = sf.sequence(sf.lit(0), sf.lit(max(self.subset_size - 1, 0)))
        return sf.transform(places, lambda place: _bits(items, place * width, width))

    def is_wrong(self, items: Column, symbols: Column) -> Column:
        """Tell whether no client could have sent these bytes."""
        has_length = sf.octet_length(items) == self.length
        if not self.length:
            return ~sf.coalesce(has_length, sf.lit(False))
        used = self.size if self.is_bitmap else self.subset_size * self.bits_per_item
        fills = 8 * self.length - used
        is_filled = _bits(items, sf.lit(used), fills) == 0 if fills else sf.lit(True)
        return ~sf.coalesce(has_length & is_filled & self._names_enough(symbols), sf.lit(False))

    def _names_enough(self, symbols: Column) -> Column:
        if self.is_bitmap:
            named = sf.aggregate(
                symbols, sf.lit(0), lambda total, symbol: total + sf.bit_count(symbol % 256)
            )
            return named == self.subset_size
        following = sf.slice(symbols, sf.lit(2), sf.lit(self.subset_size))
        pairs = sf.zip_with(
            symbols, following, lambda one, other: sf.coalesce(one < other, other.isNull())
        )
        return sf.forall(pairs, lambda fits: fits) & (sf.element_at(symbols, -1) < self.size)

    def item_counts(self, symbols: Mapping[int, int]) -> list[int]:
        """Return the number of reports that name each item, from the counts of symbols."""
        counts = [0] * self.size
        for symbol, count in symbols.items():
            if not self.is_bitmap:
                counts[symbol] += count
                continue
            place, bits = divmod(symbol, 256)
            for bit in range(8):
                if bits >> (7 - bit) & 1:
                    counts[8 * place + bit] += count
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportForm:
    """Common fields of all reports for one head list, and the format of their items."""

    kind: FileKind
    shared: Mapping[str, Any]
    """Fields with the same value in all reports: version, head_list, mechanism."""
    packed: Mapping[str, PackedForm]
    """Format of the answer to each question; empty if a report names one cell."""
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCounts:
    """Number of times each item was named, and number of reports."""

    items: list[int]
    reports: int


def count_spark_reports(
    spark: SparkSession, paths: Sequence[str | Path], form: ReportForm
) -> dict[str, NamedCounts]:
    """Count the items that reports name, by question; ``record`` if there is only one.

    Raises:
        InputError: A file does not hold reports.
        HeadListMismatchError: A report was made for another list.
        UnknownReportError: No client could have sent this report.
    """
    label = str(paths[0]) if len(paths) == 1 else f"{paths[0]} or one of {len(paths) - 1} others"
    reports = _read(spark, paths, form, label)
    _refuse_strangers(reports, form, label)
    if not form.packed:
        return {"record": _cell_counts(reports, form.cells, label)}
    return {
        question: _answer_counts(reports.filter(sf.col("question") == question), packed, label)
        for question, packed in form.packed.items()
    }


def _read(
    spark: SparkSession, paths: Sequence[str | Path], form: ReportForm, label: str
) -> DataFrame:
    spark.conf.set("spark.sql.parquet.binaryAsString", "false")  # the items are bytes
    files = [file.path for file in find_files(spark, paths)]
    own = {"question": "string", "items": "string"} if form.packed else {"cell": "bigint"}
    types = {"version": "bigint", "head_list": "string", "mechanism": "string", **own}
    if form.kind == "json":
        schema = ", ".join(f"`{name}` {kind}" for name, kind in {**types, "flaw": "string"}.items())
        reader = spark.read.schema(schema).option("columnNameOfCorruptRecord", "flaw")
        return _with_bytes(reader.json(files), form)
    try:
        reports = spark.read.parquet(*files)
    except PySparkException:
        raise InputError(label, "must be parquet reports throughout") from None
    for name in types:
        if name not in reports.columns:
            raise InputError(label, "is missing from the reports", where=f"field {name}")
    if form.packed and dict(reports.dtypes)["items"] != "binary":
        raise UnknownReportError(f"{label}: the items of its reports must be bytes")
    return reports.select(*types, sf.lit(None).cast("string").alias("flaw"))


def _with_bytes(reports: DataFrame, form: ReportForm) -> DataFrame:
    """Return JSON reports with the bytes of their items; NULL if the text cannot be decoded."""
    if not form.packed:
        return reports
    text = sf.translate(sf.col("items"), "-_", "+/")
    fill = sf.repeat(sf.lit("="), sf.pmod(-sf.length(text), sf.lit(4)).cast("int"))
    decoded = sf.try_to_binary(sf.concat(text, fill), sf.lit("base64"))
    is_plain = sf.rtrim(sf.base64(decoded), sf.lit("=")) == text
    return reports.withColumn("items", sf.when(is_plain, decoded))


def _refuse_strangers(reports: DataFrame, form: ReportForm, label: str) -> None:
    differs = {
        name: sf.max(~sf.col(name).eqNullSafe(sf.lit(value))).alias(name)
        for name, value in form.shared.items()
    }
    is_known = sf.col("question").isin(*form.packed) if form.packed else sf.lit(True)
    facts = reports.agg(
        sf.max(sf.isnotnull("flaw")).alias("flaw"),
        *differs.values(),
        sf.max(~sf.coalesce(is_known, sf.lit(False))).alias("is_unasked"),
    )
    with described_failures():
        [found] = facts.collect()
    if found.flaw:
        raise InputError(label, f"must be {form.kind} reports throughout")
    for name in differs:
        if found[name]:
            what = "another head list" if name == "head_list" else f"another {name}"
            raise HeadListMismatchError(f"{label}: has reports made for {what}")
    if found.is_unasked:
        known = " or ".join(form.packed)
        raise UnknownReportError(
            f"{label}: has reports to a question that this head list does not ask; "
            f"question must be {known}"
        )


def _cell_counts(reports: DataFrame, cells: int, label: str) -> NamedCounts:
    with described_failures():
        found = {row.cell: row["count"] for row in reports.groupBy("cell").count().collect()}
    if any(not isinstance(cell, int) or not 0 <= cell < cells for cell in found):
        raise UnknownReportError(
            f"{label}: has reports that name no cell of this head list; "
            f"cell must be a whole number from 0 to {cells - 1}"
        )
    return NamedCounts(
        items=[found.get(cell, 0) for cell in range(cells)], reports=sum(found.values())
    )


def _answer_counts(answers: DataFrame, packed: PackedForm, label: str) -> NamedCounts:
    with_symbols = answers.select("items", packed.symbols(sf.col("items")).alias("symbols"))
    facts = with_symbols.agg(
        sf.count("*").alias("reports"),
        sf.max(packed.is_wrong(sf.col("items"), sf.col("symbols"))).alias("is_wrong"),
    )
    symbols = with_symbols.select(sf.explode("symbols").alias("symbol")).groupBy("symbol").count()
    with described_failures():
        [found] = facts.collect()
        if found.is_wrong:
            raise UnknownReportError(
                f"{label}: has reports that no client of this head list could have sent; items "
                f"must be {packed.length} bytes that name exactly {packed.subset_size} of "
                f"{packed.size} numbers, in increasing order"
            )
        counted = {row.symbol: row["count"] for row in symbols.collect()}
    return NamedCounts(items=packed.item_counts(counted), reports=found.reports)


def _bits(items: Column, start: Column, width: int) -> Column:
    """Return a number of bits, at most 25, as an integer; the first bit is the highest."""
    first = sf.floor(start / 8).cast("int")
    four = sf.rpad(sf.substring(items, first + 1, sf.lit(4)), sf.lit(4), sf.lit(bytearray(1)))
    number = sf.conv(sf.hex(four), 16, 10).cast("bigint")
    over = 32 - width - (start - first * 8).cast("int")
    return (
        sf.call_function("shiftright", number, over)
        .bitwiseAND(sf.lit((1 << width) - 1))
        .cast("int")
    )
