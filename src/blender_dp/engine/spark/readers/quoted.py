"""Values of a CSV line as Spark expressions, and whole files for lines that need a parser.

A line without a quote is split at its commas. In a line with quotes, the text between the first and
second quote, the third and fourth, ... is inside quotes, and only the commas elsewhere separate
values. That is wrong if a quote stands in the middle of a bare value, or opens a value that
continues in the next line. Such lines are detected, and then whole files are read by Spark's own
CSV reader instead, each by one task.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField, StructType

from blender_dp.engine.spark.numbering import counter
from blender_dp.engine.spark.readers.places import LogFile

_QUOTE = '"'
_PARTED = "\n"
"""Mark in place of a comma between values; no line contains it."""


def csv_values(line: Column) -> Column:
    """Return the values of a line."""
    return sf.when(
        sf.contains(line, sf.lit(_QUOTE)), sf.transform(_quoted_parts(line), _unquoted)
    ).otherwise(sf.split(line, ","))


def is_beyond_a_line(line: Column) -> Column:
    """Tell whether a line has quotes that :func:`csv_values` cannot split correctly."""
    return sf.contains(line, sf.lit(_QUOTE)) & sf.exists(_quoted_parts(line), _is_odd)


def _quoted_parts(line: Column) -> Column:
    between = sf.split(line, _QUOTE)
    parted = sf.transform(
        between,
        lambda piece, place: sf.when(
            place % 2 == 0, sf.replace(piece, sf.lit(","), sf.lit(_PARTED))
        ).otherwise(piece),
    )
    return sf.split(sf.array_join(parted, _QUOTE), _PARTED)


def _unquoted(part: Column) -> Column:
    inside = sf.substring(part, sf.lit(2), sf.length(part) - 2)
    whole = sf.replace(inside, sf.lit(_QUOTE * 2), sf.lit(_QUOTE))
    return sf.when(sf.startswith(part, sf.lit(_QUOTE)), whole).otherwise(part)


def _is_odd(part: Column) -> Column:
    quotes = sf.length(part) - sf.length(sf.replace(part, sf.lit(_QUOTE), sf.lit("")))
    inside = sf.substring(part, sf.lit(2), sf.length(part) - 2)
    is_bare = ~sf.startswith(part, sf.lit(_QUOTE))
    is_closed = (sf.length(part) > 1) & sf.endswith(part, sf.lit(_QUOTE))
    left = sf.replace(inside, sf.lit(_QUOTE * 2), sf.lit(""))
    is_sound = is_closed & ~sf.contains(left, sf.lit(_QUOTE))
    return sf.when(is_bare, quotes > 0).otherwise(~is_sound)


def whole_csv(
    spark: SparkSession, files: Sequence[LogFile], columns: dict[str, int], width: int
) -> DataFrame:
    """Return the columns of :func:`parsed_lines`, read by Spark's CSV reader, one task per file."""
    names = [f"c{place}" for place in range(width)]
    schema = StructType([StructField(name, StringType()) for name in [*names, "flaw"]])
    rows = (
        spark.read.schema(schema)
        .options(quote=_QUOTE, escape=_QUOTE, multiLine=True, maxCharsPerColumn=-1)
        .options(columnNameOfCorruptRecord="flaw", unescapedQuoteHandling="RAISE_ERROR")
        .options(ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False)
        .csv([file.path for file in files])
    )
    return rows.select(
        sf.col("_metadata.file_path").alias("file"),
        sf.col("_metadata.file_block_start").alias("start"),
        counter().alias("id"),
        sf.isnotnull("flaw").alias("is_wrong"),
        sf.lit(False).alias("is_beyond"),
        *(sf.col(names[place]).alias(name) for name, place in columns.items()),
    )
