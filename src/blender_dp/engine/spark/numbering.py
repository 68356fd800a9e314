"""Consecutive row numbers over many partitions, without moving the rows.

Spark's ``monotonically_increasing_id`` grows within a partition, by one per row, and jumps between
partitions. Each partition sends one count to the driver; running totals of the counts, sent back,
make the numbers consecutive.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

_IN_PARTITION_BITS = 33
"""Low bits of such an id: the row's number in its partition; the high bits are the partition."""


def counter() -> Column:
    """Return the column of ids from which the two functions below number rows."""
    return sf.monotonically_increasing_id()


def numbers_in_partitions(ids: Column, counts: Sequence[int]) -> Column:
    """Return consecutive numbers from ids and the rows of every partition.

    Args:
        ids: The column of :func:`counter`, kept.
        counts: How many rows each partition has.
    """
    starts = ",".join(map(str, accumulate(counts, initial=0)))
    start = sf.element_at(
        sf.split(sf.lit(starts), ",").cast("array<bigint>"),
        (sf.shiftright(ids, _IN_PARTITION_BITS) + 1).cast("int"),
    )
    return start + ids.bitwiseAND(sf.lit((1 << _IN_PARTITION_BITS) - 1))


def rows_of_partitions(kept: DataFrame, ids: str) -> list[int]:
    """Return the number of rows of each partition of a kept frame, from its ids."""
    partition = sf.shiftright(sf.col(ids), _IN_PARTITION_BITS).alias("partition")
    found = {
        int(row["partition"]): int(row["count"])
        for row in kept.groupBy(partition).count().collect()
    }
    return [found.get(number, 0) for number in range(max(found, default=-1) + 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a file that one task read, with its number of rows."""

    file: str
    start: int
    """Offset of the piece in the file, in bytes."""
    first_id: int
    rows: int


def first_numbers(
    pieces: Sequence[Piece], order: Sequence[str], *, has_header: bool
) -> list[tuple[int, int]]:
    """Return the number of each piece's first row, and the id of the row that is a header or -1.

    Args:
        pieces: In any order, those without rows left out.
        order: The files, in the order in which rows are numbered.
        has_header: Whether the first line of every file is a header. It gets the number before that
            of the file's first row.
    """
    places = {file: place for place, file in enumerate(order)}
    found: dict[tuple[str, int], tuple[int, int]] = {}
    next_number, last_file = 0, None
    for piece in sorted(pieces, key=lambda piece: (places[piece.file], piece.start)):
        is_headed = has_header and piece.file != last_file
        next_number -= is_headed
        found[piece.file, piece.start] = next_number, piece.first_id if is_headed else -1
        next_number += piece.rows
        last_file = piece.file
    return [found[piece.file, piece.start] for piece in pieces]
