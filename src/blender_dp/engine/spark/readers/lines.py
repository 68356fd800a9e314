"""Lines of text files on Spark: read and parsed once, kept, and numbered as in the files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from blender_dp.engine.duckdb.readers import LogFormat
from blender_dp.engine.duckdb.readers.files import LONGEST_LINE_BYTES
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.numbering import Piece, counter, first_numbers
from blender_dp.engine.spark.readers.failures import explained_failures
from blender_dp.engine.spark.readers.places import LogFile, key_of

_WHERE = ("file", "start", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineForm:
    """Rules that turn the lines of some files into columns."""

    values: Callable[[Column], Column]
    """Maps a line to the list of its values."""
    columns: dict[str, int]
    """Positions of the needed values, by their purpose."""
    is_wrong: Callable[[Column], Column]
    """Maps the values to whether the line breaks the rule of its format."""
    is_beyond: Callable[[Column], Column] | None = None
    """Maps a line to whether it needs another reader: a value continues on the next line."""


def parsed_lines(spark: SparkSession, files: Sequence[LogFile], form: LineForm) -> DataFrame:
    """Return file, start, id, is_wrong, is_beyond and the values of lines that are not blank."""
    line = sf.col("value")
    lines = (
        spark.read.text([file.path for file in files])
        .select("value", "_metadata.file_path", "_metadata.file_block_start")
        .filter(line != "")
    )
    values = sf.col("line_values")
    is_unreadable = ~sf.is_valid_utf8(line) | (sf.octet_length(line) > LONGEST_LINE_BYTES)
    is_beyond = sf.lit(False) if form.is_beyond is None else form.is_beyond(line)
    return lines.select("*", counter().alias("id"), form.values(line).alias("line_values")).select(
        sf.col("file_path").alias("file"),
        sf.col("file_block_start").alias("start"),
        "id",
        (is_unreadable | form.is_wrong(values)).alias("is_wrong"),
        is_beyond.alias("is_beyond"),
        *(sf.get(values, sf.lit(place)).alias(name) for name, place in form.columns.items()),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedLines:
    """Lines that were kept, and how many there are in each piece of a file."""

    lines: DataFrame
    pieces: list[Piece]
    wrong: frozenset[str]
    """Files in which a line breaks a rule."""
    beyond: frozenset[str]
    """Files with lines that another reader must read."""

    @classmethod
    def of(
        cls,
        lines: DataFrame,
        frames: KeptFrames,
        files: Sequence[LogFile],
        log_format: LogFormat,
    ) -> "CountedLines":
        """Read and keep the lines of these files; only counts are sent to this process."""
        kept = frames.keep(lines)
        facts = kept.groupBy("file", "start").agg(
            sf.min("id").alias("first_id"),
            sf.count("*").alias("rows"),
            sf.max("is_wrong").alias("is_wrong"),
            sf.max("is_beyond").alias("is_beyond"),
        )
        with explained_failures(files, log_format):
            found = facts.collect()
        return cls(
            lines=kept,
            pieces=[
                Piece(file=row.file, start=row.start, first_id=row.first_id, rows=row.rows)
                for row in found
            ],
            wrong=frozenset(key_of(row.file) for row in found if row.is_wrong),
            beyond=frozenset(key_of(row.file) for row in found if row.is_beyond),
        )

    def numbered(self, files: Sequence[LogFile], *, has_header: bool) -> DataFrame:
        """Return the lines with ``row``, counted over the files in order, without headers."""
        addresses = {key_of(piece.file): piece.file for piece in self.pieces}
        order = [addresses[file.key] for file in files if file.key in addresses]
        numbers = first_numbers(self.pieces, order, has_header=has_header)
        table = pa.table(
            {
                "file": [piece.file for piece in self.pieces],
                "start": pa.array([piece.start for piece in self.pieces], pa.int64()),
                "offset": pa.array(
                    [n - p.first_id for p, (n, _) in zip(self.pieces, numbers, strict=True)],
                    pa.int64(),
                ),
                "header_id": pa.array([header for _, header in numbers], pa.int64()),
            }
        )
        places = sf.broadcast(self.lines.sparkSession.createDataFrame(table))
        return (
            self.lines.join(places, ["file", "start"])
            .filter(sf.col("id") != sf.col("header_id"))
            .withColumn("row", sf.col("id") + sf.col("offset"))
            .drop(*_WHERE, "offset", "header_id", "is_wrong", "is_beyond")
        )
