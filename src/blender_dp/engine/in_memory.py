"""A population in plain Python: slow, short, and obviously right; the oracle of the others.

It draws the same secret keys as the database engines and so samples the same records: for the
same rows and the same seed every count must be equal, not only alike.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from blender_dp.core.cells import IntArray
from blender_dp.core.head_list import HeadList, Record
from blender_dp.core.population import ShareSums
from blender_dp.core.randomness import Randomness
from blender_dp.engine.group_sizes import discovery_users, opt_in_users, require_both_groups
from blender_dp.engine.sampling import SamplingKeys
from blender_dp.engine.simulated_clients import SimulatedClients, one_by_one


class LogRow(NamedTuple):
    """One line of a log; query and URL are None where the line is no record."""

    user: str
    query: str | None
    url: str | None
    opt_in: bool | None = None


class DrawnRow(NamedTuple):
    """A row of a user's with what orders it: records first, then the secret key."""

    is_no_record: bool
    key: int
    number: int
    row: LogRow


@dataclass(frozen=True, slots=True)
class MemoryUsers:
    """Some users, each a list of rows in the order in which they are drawn."""

    drawn_rows: Sequence[Sequence[DrawnRow]]

    @property
    def size(self) -> int:
        """How many users."""
        return len(self.drawn_rows)

    def split(self, fraction: float) -> "tuple[MemoryUsers, MemoryUsers]":
        """Cut the secret order of the users in two."""
        middle = discovery_users(self.size, fraction)
        return MemoryUsers(self.drawn_rows[:middle]), MemoryUsers(self.drawn_rows[middle:])

    def record_counts(self, records_per_user: int) -> "MemoryRecordSums":
        """Count the distinct records of these users' samples."""
        return MemoryRecordSums.of([(drawn, 1) for drawn in self._drawn(records_per_user)])

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count these users' samples by cell; what is missing is ⟨⋆,⋆⟩."""
        index = head_list.cell_index()
        counts = np.zeros(head_list.cells.cell_count, dtype=np.int64)
        for drawn in self._drawn(records_per_user):
            counts[index.cell(*_record(drawn))] += 1
        counts[-1] += records_per_user * self.size - counts.sum()
        return counts

    def distinct_records(self, most: int) -> IntArray:
        """Count these users by their number of distinct records."""
        numbers = [min(len(_first_rows(rows)), most) for rows in self.drawn_rows]
        return np.bincount(numbers, minlength=most + 1)

    def record_weights(self, weights: IntArray, class_width: int) -> "MemoryRecordSums":
        """Add up what each user gives to each of their distinct records."""
        given = []
        for rows in self.drawn_rows:
            kept = sorted(_first_rows(rows))[: len(weights) - 1]
            given += [(first, int(weights[len(kept)])) for first in kept]
        return MemoryRecordSums.of(given, class_width)

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up these users' shares by cell; what is missing is ⟨⋆,⋆⟩."""
        index = head_list.cell_index()
        cells = [0] * head_list.cells.cell_count
        record_squares = query_squares = 0
        for rows in self.drawn_rows:
            counts = Counter(_record(drawn) for drawn in rows if not drawn.is_no_record)
            shares = {r: unit * count // counts.total() for r, count in counts.items()}
            of_query: Counter[str] = Counter()
            for record, share in shares.items():
                cells[index.cell(*record)] += share
                of_query[record.query] += share
            listed = [share for record, share in shares.items() if record in index.listed]
            queries = [share for query, share in of_query.items() if query in index.star]
            record_squares += min(unit, sum(f * f // unit for f in listed))
            query_squares += min(unit, sum(f * f // unit for f in queries))
        cells[-1] += unit * self.size - sum(cells)
        return ShareSums(
            cells=np.array(cells), record_squares=record_squares, query_squares=query_squares
        )

    def _drawn(self, records_per_user: int) -> list[DrawnRow]:
        return [
            drawn
            for rows in self.drawn_rows
            for drawn in rows[:records_per_user]
            if not drawn.is_no_record
        ]


@dataclass(frozen=True, slots=True)
class MemoryRecordSums:
    """Distinct records with their sums, in order of first appearance."""

    sums: Counter[Record]
    class_width: int

    @classmethod
    def of(cls, given: Sequence[tuple[DrawnRow, int]], class_width: int = 1) -> "MemoryRecordSums":
        """Add up what is given to the records of these rows."""
        sums: Counter[Record] = Counter()
        for drawn, amount in sorted(given, key=lambda pair: pair[0].number):
            sums[_record(drawn)] += amount
        return cls(sums, class_width)

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every class and the number of records in it, smallest class first."""
        sizes = sorted(Counter(self._class_of(record) for record in self.sums).items())
        return np.array([largest for largest, _ in sizes]), np.array([size for _, size in sizes])

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        """Return the records at these positions of their class."""
        records = [
            [record for record in self.sums if self._class_of(record) == largest][at]
            for largest, positions in chosen
            for at in positions
        ]
        return [(record, self.sums[record]) for record in records]

    def _class_of(self, record: Record) -> int:
        return ceil(Fraction(self.sums[record], self.class_width)) * self.class_width


@dataclass(frozen=True, slots=True)
class MemoryPopulation:
    """Everybody in a list of rows."""

    opt_in: MemoryUsers
    clients: SimulatedClients

    @classmethod
    def of(
        cls, rows: Sequence[LogRow], randomness: Randomness, *, opt_in: float | None
    ) -> "MemoryPopulation":
        """Part the users of ``rows`` by a share, or as the rows themselves say."""
        keys = SamplingKeys.draw(randomness)
        rows_of: dict[str, list[DrawnRow]] = {}
        for number, row in enumerate(rows):
            drawn = DrawnRow(row.query is None, keys.rows.of_small(number), number, row)
            rows_of.setdefault(row.user, []).append(drawn)
        users = sorted(
            (opt_in is None and not drawn[0].row.opt_in, keys.users.of_large(uid), uid, user)
            for user, drawn in rows_of.items()
            for uid in [_user_id(user)]
        )
        ordered = [sorted(rows_of[user]) for *_, user in users]
        if opt_in is None:
            first = sum(not is_client for is_client, *_ in users)
        else:
            first = opt_in_users(len(ordered), opt_in)
        require_both_groups(first, len(ordered) - first)
        return cls(
            opt_in=MemoryUsers(ordered[:first]),
            clients=SimulatedClients(MemoryUsers(ordered[first:]), one_by_one(randomness)),
        )


def _user_id(user: str) -> int:
    digest = hashlib.md5(user.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest, "little") >> 66


def _record(drawn: DrawnRow) -> Record:
    return Record(drawn.row.query or "", drawn.row.url or "")


def _first_rows(rows: Sequence[DrawnRow]) -> list[DrawnRow]:
    """Return the row where each distinct record of a user first appears."""
    records = [drawn for drawn in rows if not drawn.is_no_record]
    in_order = sorted(records, key=lambda drawn: drawn.number, reverse=True)
    return list({_record(drawn): drawn for drawn in in_order}.values())
