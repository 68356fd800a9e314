"""A population in plain Python: slow, short, and obviously right; the oracle of the others.

It draws the same secret keys as the database engines and so samples the same records: for the
same rows and the same seed every count must be equal, not only alike.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from blender_dp.core.cells import IntArray
from blender_dp.core.head_list import HeadList, Record
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

    def record_counts(self, records_per_user: int) -> "MemoryRecordCounts":
        """Count the distinct records of these users' samples."""
        drawn = sorted(self._drawn(records_per_user), key=lambda drawn: drawn.number)
        return MemoryRecordCounts(Counter(_record(row) for row in drawn))

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count these users' samples by cell; what is missing is ⟨⋆,⋆⟩."""
        index = head_list.cell_index()
        counts = np.zeros(head_list.cells.cell_count, dtype=np.int64)
        for drawn in self._drawn(records_per_user):
            counts[index.cell(*_record(drawn))] += 1
        counts[-1] += records_per_user * self.size - counts.sum()
        return counts

    def _drawn(self, records_per_user: int) -> list[DrawnRow]:
        return [
            drawn
            for rows in self.drawn_rows
            for drawn in rows[:records_per_user]
            if not drawn.is_no_record
        ]


@dataclass(frozen=True, slots=True)
class MemoryRecordCounts:
    """Distinct records with their counts, in order of first appearance."""

    counts: Counter[Record]

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every count and the number of records that have it, smallest count first."""
        sizes = sorted(Counter(self.counts.values()).items())
        return np.array([count for count, _ in sizes]), np.array([size for _, size in sizes])

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[Record]:
        """Return the records at these positions of their class."""
        return [
            [record for record in self.counts if self.counts[record] == count][at]
            for count, positions in chosen
            for at in positions
        ]


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
