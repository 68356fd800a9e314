"""Log as integers in memory, with its true probabilities, for many runs of the algorithm.

For evaluation only: records and groups are drawn by a fast seeded generator, which is not secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.head_list.head_list import NO_URL, HeadList, Record
from blender_dp.evaluation.trials.scores import QueryTruth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedLog:
    """Users' records as codes, with the true probabilities.

    Queries are numbered by their first appearance, so that the byte order of their names is
    independent of their popularity. A user without records gets the code ``no_record``, which no
    head list names: ⟨⋆,⋆⟩.
    """

    first_row: IntArray
    """Index of each user's first row, and last the number of rows."""
    row_record: IntArray
    """The record of every row, user by user."""
    first_own: IntArray
    """Index of each user's first distinct record, and last their number."""
    own_record: IntArray
    """Every user's distinct records, user by user."""
    own_rows: IntArray
    """Number of the user's rows with each distinct record."""
    query: IntArray
    """The query of every distinct record."""
    url: IntArray
    probability: FloatArray
    """p of every distinct record: the mean over users of its share of the user's rows."""
    has_urls: bool = True
    """False if records are queries alone; a record's code is then the number of its query."""

    @classmethod
    def of(
        cls, user: IntArray, query: IntArray, url: IntArray, *, users_without_records: int = 0
    ) -> "CodedLog":
        """Code a log whose columns hold integers that are not negative.

        Args:
            user: User of every row.
            query: Query of every row.
            url: URL of every row.
            users_without_records: Number of users without a row.
        """
        query = _by_first_appearance(query)
        width = int(url.max(initial=0)) + 1
        records, row_record = np.unique(query * width + url, return_inverse=True)
        order = np.argsort(user, kind="stable")
        _, owner, rows = np.unique(user[order], return_inverse=True, return_counts=True)
        row_record = row_record[order]
        share = 1 / ((len(rows) + users_without_records) * rows[owner])
        users = len(rows) + users_without_records
        own, own_rows = np.unique(owner * (len(records) + 1) + row_record, return_counts=True)
        return cls(
            first_row=_starts(owner, users),
            row_record=row_record,
            first_own=_starts(own // (len(records) + 1), users),
            own_record=own % (len(records) + 1),
            own_rows=own_rows,
            query=records // width,
            url=records % width,
            probability=_total(share, row_record, len(records)),
        )

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.first_row) - 1

    @property
    def no_record(self) -> int:
        """Code that a user without records gets."""
        return len(self.query)

    @lru_cache(maxsize=1)  # noqa: B019 - one log is evaluated at a time
    def without_urls(self) -> "CodedLog":
        """Return the log with the query of every record alone."""
        queries = self._query_count
        owner = np.repeat(np.arange(self.users), np.diff(self.first_own))
        own, pair = np.unique(
            owner * (queries + 1) + self.query[self.own_record], return_inverse=True
        )
        return replace(
            self,
            row_record=self.query[self.row_record],
            first_own=_starts(own // (queries + 1), self.users),
            own_record=own % (queries + 1),
            own_rows=np.bincount(pair, weights=self.own_rows).astype(np.int64),
            query=np.arange(queries),
            url=np.zeros(queries, dtype=np.int64),
            probability=self.query_probability(),
            has_urls=False,
        )

    def draw_records(self, rng: np.random.Generator) -> IntArray:
        """Draw one uniformly random record of every user."""
        rows = np.diff(self.first_row)
        drawn = (rng.random(self.users) * rows).astype(np.int64)
        has_records = rows > 0
        chosen = np.full(self.users, self.no_record)
        chosen[has_records] = self.row_record[(self.first_row[:-1] + drawn)[has_records]]
        return chosen

    def cells_of_records(self, head_list: HeadList) -> IntArray:
        """Return the cell of every distinct record and, last, that of ``no_record``."""
        cells = head_list.cells
        star = np.full(self._query_count, cells.other)
        star[self._listed_queries(head_list)] = cells.star_of_query[:-1]
        cell = np.append(star[self.query], cells.other)
        cell[self.codes_of(head_list.records())] = cells.listed
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
        return QueryTruth(probability=self.query_probability(), is_listed=is_listed)

    def query_probability(self) -> FloatArray:
        """Return p of every query: the sum over its records."""
        return _total(self.probability, self.query, self._query_count)

    def name(self, code: int) -> Record:
        """Return the record as the algorithm sees it."""
        return Record(
            f"{self.query[code]:09d}", f"{self.url[code]:09d}" if self.has_urls else NO_URL
        )

    @property
    def _query_count(self) -> int:
        return int(self.query.max(initial=-1)) + 1

    def _listed_queries(self, head_list: HeadList) -> IntArray:
        return np.array([int(query) for query in head_list.queries], dtype=np.int64)

    def codes_of(self, records: Sequence[Record]) -> IntArray:
        """Return the codes of records of this log by name; codes are in the order of names."""
        if not self.has_urls:
            return np.array([int(record.query) for record in records], dtype=np.int64)
        query, url = np.array(records, dtype=np.int64).reshape(-1, 2).T
        width = int(self.url.max(initial=0)) + 1
        return np.searchsorted(self.query * width + self.url, query * width + url)


def coins_of_trial(seed: int, number: int) -> tuple[int, int]:
    """Return the two seeds of a trial: one draws groups and records, the other all noise."""
    groups, noise = np.random.SeedSequence((seed, number)).generate_state(2, np.uint64)
    return int(groups), int(noise)


def _by_first_appearance(codes: IntArray) -> IntArray:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = rank[inverse]
    return renumbered


def _starts(owner: IntArray, users: int) -> IntArray:
    """Return the index of each user's first item, for items sorted by user."""
    return np.append(0, np.cumsum(np.bincount(owner, minlength=users)))


def _total(values: FloatArray, item: IntArray, count: int) -> FloatArray:
    """Add up the values of each item."""
    totals: FloatArray = np.bincount(item, weights=values, minlength=count).astype(np.float64)
    return totals
