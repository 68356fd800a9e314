"""Population: the counts of users' data that the five steps may read, never rows.

A log in memory, in DuckDB or on a cluster and the collection service's database all answer
these questions, so the same :mod:`~blender_dp.core.blender` runs on each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from blender_dp.core.head_list.cells import Cells, IntArray
from blender_dp.core.head_list.head_list import HeadList, Record


class RecordSums(Protocol):
    """Distinct records with an integer sum each; a record is revealed only when it is chosen.

    Records with similar sums form a class. If sums are counts, a class has one count only.
    """

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every class by its largest possible sum, with its number of distinct records.

        Smallest class first.
        """
        ...

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        """Return the records at these positions within their class, each with its exact sum.

        In any order. The order of a class is fixed by the data and otherwise arbitrary; the
        positions are drawn without looking at it, so it does not matter.
        """
        ...


class SumsByName(RecordSums, Protocol):
    """The same, where records with public names may be asked for."""

    def sums_of(self, records: Sequence[Record]) -> IntArray:
        """Return the exact sum of each of these records; 0 where no user gave it."""
        ...

    def largest_by_query(self) -> tuple[IntArray, IntArray]:
        """Return every sum that is the largest of a query's records, with its number of queries.

        Smallest sum first.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareSums:
    """Sums of users' shares, in lattice units: a user's whole data is ``unit``."""

    cells: IntArray
    """By cell of the head list. Adds up to users times ``unit`` exactly: the last cell has the rest
    and what was rounded off.
    """
    record_squares: int
    """The sum over users of min(unit, Σ f²//unit) over listed records."""
    query_squares: int
    """The sum over users for listed queries, each with all its cells, including ⟨q,⋆⟩."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportCounts:
    """Counts of the named items: cells, and queries if clients were asked for the query only."""

    cells: IntArray
    """Number of reports that named each cell."""
    cell_reports: int
    """Number of these reports; under LocalAlg each names one cell."""
    queries: IntArray
    """Number of reports that named each query (⋆ last); zeros if no client reports only a query."""
    query_reports: int

    @classmethod
    def one_cell_each(cls, counts: IntArray, cells: Cells) -> "ReportCounts":
        """Return the counts of reports that each name one of ``cells``."""
        return cls(
            cells=counts,
            cell_reports=int(counts.sum()),
            queries=np.zeros(cells.query_count, dtype=np.int64),
            query_reports=0,
        )


class OptInUsers(Protocol):
    """Users whose raw records the curator holds."""

    @property
    def size(self) -> int:
        """Number of users, with or without records. Public, and fixed before data is read."""
        ...

    def split(self, fraction: float) -> "tuple[OptInUsers, OptInUsers]":
        """Divide the users at random, independently of their records (Fig. 2 line 1).

        The first part has the given share of the users, rounded, and both have at least one.
        """
        ...

    def without_urls(self) -> "OptInUsers":
        """Return the same users with the URL of every record replaced by ``NO_URL``.

        Their records are then their queries. The same rows are drawn in a sample as before.
        """
        ...

    def record_counts(self, records_per_user: int) -> SumsByName:
        """Count the distinct records in a uniform sample of each user's records.

        A user gives at most ``records_per_user`` of them.
        """
        ...

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count the same sample by the cells of ``head_list``.

        Adds up to users times records per user: missing records count as ⟨⋆,⋆⟩.
        """
        ...

    def distinct_records(self, most: int) -> IntArray:
        """Return how many users have 0, 1, ..., ``most`` or more distinct records."""
        ...

    def record_weights(self, weights: IntArray, class_width: int) -> SumsByName:
        """Add up the weights that users give to their distinct records.

        A user keeps at most ``len(weights) - 1`` records, drawn at random, independently of how
        often a record occurs.

        Args:
            weights: Weight per record of a user who keeps k records, by k.
            class_width: A sum s is in the class of the next multiple of it, ⌈s/width⌉·width.
        """
        ...

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up the users' shares f(r) = ⌊unit · (rows with r) / (rows with a record)⌋ by cell.

        All rows count, not a sample. Other URLs of a listed query count as ⟨q,⋆⟩, other queries and
        users without records as ⟨⋆,⋆⟩.

        Args:
            head_list: The list of the cells.
            unit: A user's whole data, at most 2^30 for squares and sums to fit 64 bits.
        """
        ...


class Clients(Protocol):
    """Users whose records never leave their devices: only reports do."""

    @property
    def size(self) -> int:
        """Number of enrolled clients; each sends exactly the requested reports."""
        ...

    def report_counts(self, head_list: HeadList) -> ReportCounts:
        """Return the counts of the items that reports against ``head_list`` named."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportingClients:
    """Clients known only by the counts of their reports, all for one list."""

    counts: ReportCounts
    records_per_client: int

    @property
    def size(self) -> int:
        """Number of clients that reported."""
        return (self.counts.cell_reports + self.counts.query_reports) // self.records_per_client

    def report_counts(self, head_list: HeadList) -> ReportCounts:  # noqa: ARG002 - of that list
        """Return the counts of the named items."""
        return self.counts


class Population(Protocol):
    """All users: opt-in users and clients. No user is in two groups."""

    @property
    def opt_in(self) -> OptInUsers:
        """The paper's O."""
        ...

    @property
    def clients(self) -> Clients:
        """The paper's C: those who report directly."""
        ...

    @property
    def relayed(self) -> Clients | None:
        """Those who report through a relay; None if there is no relay."""
        ...
