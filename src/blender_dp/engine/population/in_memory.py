"""Population in plain Python: slow and simple, the reference that tests compare other engines with.

It draws the same secret keys as the database engines and so samples the same records: for the same
rows and the same seed all counts are exactly equal.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import NO_URL, HeadList, Record
from blender_dp.core.population import ShareSums
from blender_dp.engine.population.group_sizes import (
    discovery_users,
    opt_in_users,
    relay_users,
    require_both_groups,
)
from blender_dp.engine.population.sampling import SamplingKeys
from blender_dp.engine.population.simulated_clients import SimulatedClients, one_by_one


class LogRow(NamedTuple):
    """One line of a log; query and URL are None if the line is not a record."""

    user: str
    query: str | None
    url: str | None
    opt_in: bool | None = None


class OwnRow(NamedTuple):
    """A record of a user and its row number in the log."""

    number: int
    record: Record


@dataclass(frozen=True, slots=True)
class MemoryUser:
    """One user's records, in the order of the log, and the keys that decide which are drawn."""

    rows: Sequence[OwnRow]
    keys: SamplingKeys
    start: int
    """The user's keyed hash."""

    def drawn(self, most: int) -> list[OwnRow]:
        """Return at most this many records, in the order in which they are drawn."""
        return self._in_draw_order(self.rows)[:most]

    def without_urls(self) -> "MemoryUser":
        """Return the user with the query of every record alone."""
        rows = [OwnRow(own.number, Record(own.record.query, NO_URL)) for own in self.rows]
        return replace(self, rows=rows)

    def first_rows(self) -> list[OwnRow]:
        """Return the row where each distinct record first appears."""
        return list({own.record: own for own in reversed(self.rows)}.values())[::-1]

    def kept(self, most: int) -> list[OwnRow]:
        """Return at most this many distinct records."""
        return self._in_draw_order(sorted(self.first_rows()))[:most]

    def _in_draw_order(self, rows: Sequence[OwnRow]) -> list[OwnRow]:
        numbers = sorted(
            range(len(rows)), key=lambda own: self.keys.draw_order(own, self.start, len(rows))
        )
        return [rows[own] for own in numbers]


@dataclass(frozen=True, slots=True)
class MemoryUsers:
    """Some users."""

    users: Sequence[MemoryUser]

    @property
    def size(self) -> int:
        """Number of users."""
        return len(self.users)

    def split(self, fraction: float) -> "tuple[MemoryUsers, MemoryUsers]":
        """Divide the users in two, by their secret order."""
        middle = discovery_users(self.size, fraction)
        return MemoryUsers(self.users[:middle]), MemoryUsers(self.users[middle:])

    def without_urls(self) -> "MemoryUsers":
        """Return the same users with the query of every record alone."""
        return MemoryUsers([user.without_urls() for user in self.users])

    def record_counts(self, records_per_user: int) -> "MemoryRecordSums":
        """Count the distinct records of these users' samples."""
        return MemoryRecordSums.of([(own, 1) for own in self._drawn(records_per_user)])

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count these users' samples by cell; records outside the list count as ⟨⋆,⋆⟩."""
        index = head_list.cell_index()
        counts = np.zeros(head_list.cells.cell_count, dtype=np.int64)
        for own in self._drawn(records_per_user):
            counts[index.cell(*own.record)] += 1
        counts[-1] += records_per_user * self.size - counts.sum()
        return counts

    def distinct_records(self, most: int) -> IntArray:
        """Count these users by their number of distinct records."""
        numbers = [min(len(user.first_rows()), most) for user in self.users]
        return np.bincount(numbers, minlength=most + 1)

    def record_weights(self, weights: IntArray, class_width: int) -> "MemoryRecordSums":
        """Add up the weights that users give to their distinct records."""
        given = []
        for user in self.users:
            kept = user.kept(len(weights) - 1)
            given += [(first, int(weights[len(kept)])) for first in kept]
        return MemoryRecordSums.of(given, class_width)

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up these users' shares by cell; the rest of each user's data counts as ⟨⋆,⋆⟩."""
        index = head_list.cell_index()
        cells = [0] * head_list.cells.cell_count
        record_squares = query_squares = 0
        for user in self.users:
            counts = Counter(own.record for own in user.rows)
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

    def _drawn(self, records_per_user: int) -> list[OwnRow]:
        return [own for user in self.users for own in user.drawn(records_per_user)]


@dataclass(frozen=True, slots=True)
class MemoryRecordSums:
    """Distinct records with their sums, in order of first appearance."""

    sums: Counter[Record]
    class_width: int

    @classmethod
    def of(cls, given: Sequence[tuple[OwnRow, int]], class_width: int = 1) -> "MemoryRecordSums":
        """Add up the weights of the records of these rows."""
        sums: Counter[Record] = Counter()
        for own, amount in sorted(given, key=lambda pair: pair[0].number):
            sums[own.record] += amount
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

    def sums_of(self, records: Sequence[Record]) -> IntArray:
        """Return the sum of each of these records."""
        return np.array([self.sums[record] for record in records], dtype=np.int64)

    def largest_by_query(self) -> tuple[IntArray, IntArray]:
        """Return every sum that is the largest of a query's records, with its number of queries."""
        largest: Counter[str] = Counter()
        for record, total in self.sums.items():
            largest[record.query] = max(largest[record.query], total)
        return np.unique(np.array([*largest.values()], dtype=np.int64), return_counts=True)

    def _class_of(self, record: Record) -> int:
        return ceil(Fraction(self.sums[record], self.class_width)) * self.class_width


@dataclass(frozen=True, slots=True)
class MemoryPopulation:
    """All users of a list of rows."""

    opt_in: MemoryUsers
    clients: SimulatedClients
    relayed: SimulatedClients | None = None

    @classmethod
    def of(
        cls,
        rows: Sequence[LogRow],
        randomness: Randomness,
        *,
        opt_in: float | None,
        relay: float = 0.0,
    ) -> "MemoryPopulation":
        """Divide the users of ``rows`` into groups, by a share or by the group column."""
        keys = SamplingKeys.draw(randomness)
        records_of: dict[str, list[OwnRow]] = {}
        opted_in: dict[str, bool] = {}
        for number, row in enumerate(rows):
            records = records_of.setdefault(row.user, [])
            opted_in.setdefault(row.user, bool(row.opt_in))
            if row.query is not None:
                records.append(OwnRow(number, Record(row.query, row.url or "")))
        users = sorted(
            (opt_in is None and not opted_in[user], keys.users.of_large(uid), uid, user)
            for user in records_of
            for uid in [_user_id(user)]
        )
        ordered = [
            MemoryUser(records_of[user], keys, keys.records.of_large(uid))
            for *_, uid, user in users
        ]
        if opt_in is None:
            first = sum(not is_client for is_client, *_ in users)
        else:
            first = opt_in_users(len(ordered), opt_in)
        require_both_groups(first, len(ordered) - first)
        local, randomise = first + relay_users(len(ordered) - first, relay), one_by_one(randomness)
        relayed = MemoryUsers(ordered[first:local])
        return cls(
            opt_in=MemoryUsers(ordered[:first]),
            clients=SimulatedClients(MemoryUsers(ordered[local:]), randomise),
            relayed=SimulatedClients(relayed, randomise) if relayed.size else None,
        )


def _user_id(user: str) -> int:
    digest = hashlib.md5(user.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest, "little") >> 66
