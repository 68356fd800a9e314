"""Opt-in users chosen by an attacker: pairs of records, between which one user moves.

Record 2i has n users and record 2i + 1 has m; in the neighbour they have n - 1 and m + 1. Noise is
drawn independently for each record, so many such pairs in one run are as many independent draws of
one swap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, Self

import numpy as np

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.population import ShareSums


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """One user moves from a record with ``removed`` users to one with ``added``."""

    removed: int
    """n, users of the first record; at least 1."""
    added: int
    """m, users of the second record."""

    def users(self, pairs: int, *, is_swapped: bool) -> "ChosenUsers":
        """Return the users of this many pairs, before or after the swap."""
        counts = (self.removed - 1, self.added + 1) if is_swapped else (self.removed, self.added)
        return ChosenUsers(counts=np.tile(np.array(counts, dtype=np.int64), pairs))


def record(number: int) -> Record:
    """Return the record of this number; numbers are in byte order."""
    return Record(f"{number:08d}", "url")


def number_of(chosen: Record) -> int:
    """Return the number of a record."""
    return int(chosen.query)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenUsers:
    """Users with one record each, as the number of users per record."""

    counts: IntArray

    @property
    def size(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    def split(self, fraction: float) -> NoReturn:
        """Refuse: an attack chooses the users of each step."""
        raise BrokenInvariantError(f"chosen users are not divided (by {fraction})")

    def without_urls(self) -> Self:
        """Return the same users: every query has one URL."""
        return self

    def record_counts(self, records_per_user: int) -> "ChosenSums":
        """Count the records; every user has one."""
        return ChosenSums(sums=self.counts * min(records_per_user, 1), width=1)

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count the records by cell of a list that holds them all."""
        cells = head_list.cells
        counts = np.zeros(cells.cell_count, dtype=np.int64)
        counts[cells.listed] = self.counts
        counts[cells.other] = (records_per_user - 1) * self.size
        return counts

    def distinct_records(self, most: int) -> IntArray:
        """Report many records per user, so that records are weighed and not counted."""
        return np.append(np.zeros(most, dtype=np.int64), self.size)

    def record_weights(self, weights: IntArray, class_width: int) -> "ChosenSums":
        """Add up the whole weight of every user."""
        return ChosenSums(sums=self.counts * weights[1], width=class_width)

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up the whole share of every user."""
        sums = unit * self.cell_counts(head_list, 1)
        squares = unit * self.size
        return ShareSums(cells=sums, record_squares=squares, query_squares=squares)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WithOneMore(ChosenUsers):
    """Given users and one more, who adds the most that one user can add, or nothing."""

    has_all: bool

    @property
    def size(self) -> int:
        """Number of users."""
        return int(self.counts.sum()) + 1

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count the additional user in the first record, or in ⟨⋆,⋆⟩."""
        cells = head_list.cells
        counts = np.zeros(cells.cell_count, dtype=np.int64)
        counts[cells.listed] = self.counts
        counts[cells.listed[0] if self.has_all else cells.other] += records_per_user
        return counts

    def distinct_records(self, most: int) -> IntArray:
        """Give records to the additional user only: the largest number that counts."""
        numbers = np.zeros(most + 1, dtype=np.int64)
        numbers[0] = self.size - 1
        numbers[most if self.has_all else 0] += 1
        return numbers

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up squares: those of the additional user, or none."""
        squares = unit * self.has_all
        return ShareSums(
            cells=unit * self.cell_counts(head_list, 1),
            record_squares=squares,
            query_squares=squares,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenSums:
    """Records that at least one user has, each with its sum."""

    sums: IntArray
    width: int

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every class and how many records are in it."""
        largest = self._largest()
        return np.unique(largest[largest > 0], return_counts=True)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        """Return the records at these positions of their class."""
        largest = self._largest()
        return [
            (record(number), int(self.sums[number]))
            for of_class, positions in chosen
            for number in np.flatnonzero(largest == of_class)[positions].tolist()
        ]

    def sums_of(self, records: Sequence[Record]) -> IntArray:
        """Return the sum of each of these records."""
        given = np.append(self.sums, 0)
        return given[[min(number_of(chosen), len(self.sums)) for chosen in records]]

    def largest_by_query(self) -> tuple[IntArray, IntArray]:
        """Return every sum and its number of queries: every record has its own."""
        return np.unique(self.sums[self.sums > 0], return_counts=True)

    def _largest(self) -> IntArray:
        return -(-self.sums // self.width) * self.width
