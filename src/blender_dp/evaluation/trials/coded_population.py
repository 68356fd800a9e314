"""Population of a coded log: the counts for the five steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.population import ShareSums
from blender_dp.engine.population.group_sizes import (
    discovery_users,
    opt_in_users,
    relay_users,
    require_both_groups,
)
from blender_dp.engine.population.simulated_clients import SimulatedClients
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.counted_reports import all_at_once


@dataclass(frozen=True, slots=True, eq=False)
class CodedUsers:
    """Some users, each with the record drawn for them."""

    log: CodedLog
    user: IntArray
    """Numbers of the users in the log."""
    drawn: IntArray
    seed: int
    """Decides which records of a user with too many are kept."""

    @classmethod
    def drawn_from(cls, log: CodedLog, seed: int) -> "CodedUsers":
        """Draw a record of every user of a log, and put the users in a random order."""
        rng = np.random.default_rng(seed)
        drawn = log.draw_records(rng)
        order = rng.permutation(log.users)
        return cls(log, order, drawn[order], int(rng.integers(2**63)))

    @property
    def size(self) -> int:
        """Number of users."""
        return len(self.drawn)

    def between(self, start: int, stop: int) -> "CodedUsers":
        """Return the users at a range of positions."""
        return replace(self, user=self.user[start:stop], drawn=self.drawn[start:stop])

    def split(self, fraction: float) -> "tuple[CodedUsers, CodedUsers]":
        """Divide the users in two; their order is random already."""
        middle = discovery_users(self.size, fraction)
        return self.between(0, middle), self.between(middle, self.size)

    def without_urls(self) -> "CodedUsers":
        """Return the same users with the query of every record alone."""
        log = self.log.without_urls()
        query = np.append(self.log.query, log.no_record)
        return replace(self, log=log, drawn=query[self.drawn])

    def record_counts(self, records_per_user: int) -> "CodedRecordSums":
        """Count the distinct records drawn."""
        _require_one(records_per_user)
        records = self.drawn[self.drawn != self.log.no_record]
        return CodedRecordSums(self.log, *np.unique(records, return_counts=True))

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count the records drawn by cell."""
        _require_one(records_per_user)
        cell = self.log.cells_of_records(head_list)
        return np.bincount(cell[self.drawn], minlength=head_list.cells.cell_count)

    def distinct_records(self, most: int) -> IntArray:
        """Count these users by their number of distinct records."""
        return np.bincount(np.minimum(self._own_counts(), most), minlength=most + 1)

    def record_weights(self, weights: IntArray, class_width: int) -> "CodedRecordSums":
        """Add up the weights that users give to their distinct records."""
        most = len(weights) - 1
        count, own, owner = self._own_counts(), *self._own()
        key = np.random.default_rng(self.seed).random(len(own))
        # Only the records of the few users with too many are sorted; the first ones are kept.
        (crowded,) = np.nonzero(count[owner] > most)
        crowded = crowded[np.lexsort((key[crowded], owner[crowded]))]
        _, start, inverse = np.unique(owner[crowded], return_index=True, return_inverse=True)
        dropped = crowded[np.arange(len(crowded)) - start[inverse] >= most]
        own, owner = np.delete(own, dropped), np.delete(owner, dropped)
        record, inverse = np.unique(self.log.own_record[own], return_inverse=True)
        weight = weights[np.minimum(count[owner], most)]
        return CodedRecordSums(self.log, record, _sums(weight, inverse, len(record)), class_width)

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up these users' shares by cell; the rest of each user's data counts as ⟨⋆,⋆⟩."""
        cells, log = head_list.cells, self.log
        own, owner = self._own()
        rows = np.diff(log.first_row)[self.user]
        cell = log.cells_of_records(head_list)[log.own_record[own]]
        share = unit * log.own_rows[own] // rows[owner]
        of_query = cell != cells.other
        cell, share, owner = cell[of_query], share[of_query], owner[of_query]
        sums = _sums(share, cell, cells.cell_count)
        sums[cells.other] = unit * self.size - sums.sum()
        listed = share[cells.is_listed[cell]]
        pair = owner * cells.query_count + cells.query_of_cell[cell]
        pairs, inverse = np.unique(pair, return_inverse=True)
        query_share = _sums(share, inverse, len(pairs))
        return ShareSums(
            cells=sums,
            record_squares=int((listed * listed // unit).sum()),
            query_squares=int((query_share * query_share // unit).sum()),
        )

    def _own_counts(self) -> IntArray:
        """Return the number of distinct records of each user."""
        return np.diff(self.log.first_own)[self.user]

    def _own(self) -> tuple[IntArray, IntArray]:
        """Return the indices of these users' distinct records in the log, and the user of each."""
        count = self._own_counts()
        owner = np.repeat(np.arange(self.size), count)
        before = np.cumsum(count) - count
        first = self.log.first_own[self.user]
        return np.arange(len(owner)) + (first - before)[owner], owner


@dataclass(frozen=True, slots=True, eq=False)
class CodedRecordSums:
    """Distinct records and their sums."""

    log: CodedLog
    record: IntArray
    sum: IntArray
    class_width: int = 1

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every class and the number of records in it."""
        return np.unique(self._largest(), return_counts=True)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        """Return the records at these positions of their class."""
        order = np.argsort(self._largest(), kind="stable")
        largest = self._largest()[order]
        found = [order[np.searchsorted(largest, of_class) + at] for of_class, at in chosen]
        return [
            (self.log.name(code), total)
            for places in found
            for code, total in zip(
                self.record[places].tolist(), self.sum[places].tolist(), strict=True
            )
        ]

    def sums_of(self, records: Sequence[Record]) -> IntArray:
        """Return the sum of each of these records."""
        by_code = np.zeros(self.log.no_record, dtype=np.int64)
        by_code[self.record] = self.sum
        return by_code[self.log.codes_of(records)]

    def largest_by_query(self) -> tuple[IntArray, IntArray]:
        """Return every sum that is the largest of a query's records, with its number of queries."""
        query, place = np.unique(self.log.query[self.record], return_inverse=True)
        largest = np.zeros(len(query), dtype=np.int64)
        np.maximum.at(largest, place, self.sum)
        return np.unique(largest, return_counts=True)

    def _largest(self) -> IntArray:
        return -(-self.sum // self.class_width) * self.class_width


@dataclass(frozen=True, slots=True, eq=False)
class CodedPopulation:
    """One random draw of records and groups from a coded log."""

    opt_in: CodedUsers
    clients: SimulatedClients
    relayed: SimulatedClients | None = None

    @classmethod
    def draw(
        cls, log: CodedLog, *, opt_in: float, seed: int, randomness: Randomness, relay: float = 0.0
    ) -> "CodedPopulation":
        """Draw one record per user and divide the users into groups.

        The clients' noise comes from ``randomness`` through a generator seeded by it.
        """
        opted_in, clients = draw_groups(log, opt_in=opt_in, seed=seed)
        randomise = all_at_once(np.random.default_rng(randomness.bits(128)))
        local = relay_users(clients.size, relay)
        relayed = clients.between(0, local)
        return cls(
            opt_in=opted_in,
            clients=SimulatedClients(clients.between(local, clients.size), randomise),
            relayed=SimulatedClients(relayed, randomise) if relayed.size else None,
        )


def draw_groups(log: CodedLog, *, opt_in: float, seed: int) -> tuple[CodedUsers, CodedUsers]:
    """Draw one record per user, and which users opted in; the others are clients."""
    first = opt_in_users(log.users, opt_in)
    require_both_groups(first, log.users - first)
    everyone = CodedUsers.drawn_from(log, seed)
    return everyone.between(0, first), everyone.between(first, log.users)


def coins_of_trial(seed: int, number: int) -> tuple[int, int]:
    """Return the two seeds of a trial: one draws groups and records, the other all noise."""
    coins = np.random.SeedSequence((seed, number))
    groups, noise = (int(word) for word in coins.generate_state(2, np.uint64))
    return groups, noise


def _sums(values: IntArray, item: IntArray, count: int) -> IntArray:
    """Add up the values of each item, exactly."""
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, item, values)
    return sums


def _require_one(records_per_user: int) -> None:
    if records_per_user != 1:
        raise ParameterError("records_per_user", "1 in an evaluation", records_per_user)
