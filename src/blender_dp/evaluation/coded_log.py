"""A log as integers in memory, for running the algorithm many times against the truth.

For evaluation only: records and groups are drawn by a fast seeded generator that is no secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from blender_dp.core.cells import BoolArray, FloatArray, IntArray
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list import HeadList, Record
from blender_dp.core.randomness import Randomness
from blender_dp.engine.group_sizes import discovery_users, opt_in_users, require_both_groups
from blender_dp.engine.simulated_clients import SimulatedClients
from blender_dp.evaluation.counted_reports import reports_from_cell_counts
from blender_dp.evaluation.scores import QueryTruth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedLog:
    """Users' records as codes, with the truth that estimates are held against.

    Queries are numbered by their first appearance, so that the byte order of their names says
    nothing about their popularity. A user without records is drawn the code ``no_record``, which
    no head list names: ⟨⋆,⋆⟩.
    """

    first_row: IntArray
    """Where each user's rows begin, and where the last one's end."""
    row_record: IntArray
    """The record of every row, user by user."""
    query: IntArray
    """The query of every distinct record."""
    url: IntArray
    probability: FloatArray
    """p of every distinct record: the mean over users of its share of the user's rows."""

    @classmethod
    def of(
        cls, user: IntArray, query: IntArray, url: IntArray, *, users_without_records: int = 0
    ) -> "CodedLog":
        """Code a log whose columns hold arbitrary integers, not negative.

        Args:
            user: Whose record every row is.
            query: Its query.
            url: Its URL.
            users_without_records: How many users there are beyond those of the rows.
        """
        query = _by_first_appearance(query)
        width = int(url.max(initial=0)) + 1
        records, row_record = np.unique(query * width + url, return_inverse=True)
        order = np.argsort(user, kind="stable")
        _, owner, rows = np.unique(user[order], return_inverse=True, return_counts=True)
        row_record = row_record[order]
        share = 1 / ((len(rows) + users_without_records) * rows[owner])
        rows = np.concatenate([rows, np.zeros(users_without_records, dtype=np.int64)])
        return cls(
            first_row=np.concatenate([[0], np.cumsum(rows)]),
            row_record=row_record,
            query=records // width,
            url=records % width,
            probability=_total(share, row_record, len(records)),
        )

    @property
    def users(self) -> int:
        """How many users."""
        return len(self.first_row) - 1

    @property
    def no_record(self) -> int:
        """The code of what a user without records is drawn."""
        return len(self.query)

    def draw_records(self, rng: np.random.Generator) -> IntArray:
        """Draw one uniformly random record of every user."""
        rows = np.diff(self.first_row)
        drawn = (rng.random(self.users) * rows).astype(np.int64)
        has_records = rows > 0
        chosen = np.full(self.users, self.no_record)
        chosen[has_records] = self.row_record[(self.first_row[:-1] + drawn)[has_records]]
        return chosen

    def cells_of_records(self, head_list: HeadList) -> IntArray:
        """Return the cell of every distinct record, and last of all that of ``no_record``."""
        cells = head_list.cells
        star = np.full(self._query_count, cells.other)
        star[self._listed_queries(head_list)] = cells.star_of_query[:-1]
        cell = np.append(star[self.query], cells.other)
        codes = {Record(*names): code for code, names in self._names_of(cell != cells.other)}
        listed = [codes[record] for record in head_list.records()]
        cell[listed] = cells.listed
        return cell

    def true_cells(self, head_list: HeadList) -> FloatArray:
        """Return the true probability of every cell."""
        cells = head_list.cells
        true = _total(self.probability, self.cells_of_records(head_list)[:-1], cells.cell_count)
        recordless = np.count_nonzero(np.diff(self.first_row) == 0)
        true[cells.other] += recordless / self.users
        return true

    def query_truth(self, head_list: HeadList) -> QueryTruth:
        """Return the true probability of every query, and which of them are listed."""
        is_listed = np.zeros(self._query_count, dtype=np.bool_)
        is_listed[self._listed_queries(head_list)] = True
        return QueryTruth(
            probability=_total(self.probability, self.query, self._query_count),
            is_listed=is_listed,
        )

    def name(self, code: int) -> Record:
        """Return the record as the algorithm sees it."""
        return Record(f"{self.query[code]:09d}", f"{self.url[code]:09d}")

    @property
    def _query_count(self) -> int:
        return int(self.query.max(initial=-1)) + 1

    def _listed_queries(self, head_list: HeadList) -> IntArray:
        return np.array([int(query) for query in head_list.queries], dtype=np.int64)

    def _names_of(self, wanted: BoolArray) -> list[tuple[int, Record]]:
        return [(int(code), self.name(int(code))) for code in np.flatnonzero(wanted)]


@dataclass(frozen=True, slots=True, eq=False)
class CodedUsers:
    """Some users, each with the record drawn for them."""

    log: CodedLog
    drawn: IntArray

    @property
    def size(self) -> int:
        """How many users."""
        return len(self.drawn)

    def split(self, fraction: float) -> "tuple[CodedUsers, CodedUsers]":
        """Cut in two; the order is random already."""
        middle = discovery_users(self.size, fraction)
        return CodedUsers(self.log, self.drawn[:middle]), CodedUsers(self.log, self.drawn[middle:])

    def record_counts(self, records_per_user: int) -> "CodedRecordCounts":
        """Count the distinct records drawn."""
        _require_one(records_per_user)
        records = self.drawn[self.drawn != self.log.no_record]
        return CodedRecordCounts(self.log, *np.unique(records, return_counts=True))

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count the records drawn by cell."""
        _require_one(records_per_user)
        cell = self.log.cells_of_records(head_list)
        return np.bincount(cell[self.drawn], minlength=head_list.cells.cell_count)


@dataclass(frozen=True, slots=True, eq=False)
class CodedRecordCounts:
    """Distinct records and their counts."""

    log: CodedLog
    record: IntArray
    count: IntArray

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every count and the number of records that have it."""
        return np.unique(self.count, return_counts=True)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[Record]:
        """Return the records at these positions of their class."""
        return [
            self.log.name(int(code))
            for count, at in chosen
            for code in self.record[self.count == count][at]
        ]


@dataclass(frozen=True, slots=True, eq=False)
class CodedPopulation:
    """One random draw of records and groups from a coded log."""

    opt_in: CodedUsers
    clients: SimulatedClients

    @classmethod
    def draw(
        cls, log: CodedLog, *, opt_in: float, seed: int, randomness: Randomness
    ) -> "CodedPopulation":
        """Draw a record of every user, and who opted in.

        The clients' noise comes from ``randomness`` through a generator seeded by it.
        """
        rng = np.random.default_rng(seed)
        drawn = rng.permutation(log.draw_records(rng))
        first = opt_in_users(log.users, opt_in)
        require_both_groups(first, log.users - first)
        noise = np.random.default_rng(randomness.bits(128))
        return cls(
            opt_in=CodedUsers(log, drawn[:first]),
            clients=SimulatedClients(
                CodedUsers(log, drawn[first:]), partial(reports_from_cell_counts, rng=noise)
            ),
        )


def _by_first_appearance(codes: IntArray) -> IntArray:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = rank[inverse]
    return renumbered


def _total(values: FloatArray, item: IntArray, count: int) -> FloatArray:
    """Add up the values of each item."""
    totals: FloatArray = np.bincount(item, weights=values, minlength=count).astype(np.float64)
    return totals


def _require_one(records_per_user: int) -> None:
    if records_per_user != 1:
        raise ParameterError("records_per_user", "1 in an evaluation", records_per_user)
