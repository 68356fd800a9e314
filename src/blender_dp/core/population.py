"""Population: the counts that the five steps may read of people's data, never rows.

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
    """Distinct records with an integer sum each, without saying which record, until one is chosen.

    They come in classes of like sums; where a record's sum is its count, a class is a count.
    """

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every class by its largest possible sum, and how many distinct records are in it.

        Smallest class first.
        """
        ...

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        """Return the records at these positions within their class, each with its exact sum.

        In any order. The order of a class is fixed by the data and otherwise arbitrary; the
        positions are drawn without looking at it, so it does not matter.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareSums:
    """What users' shares add up to, in lattice units: a user's whole data is ``unit``."""

    cells: IntArray
    """By cell of the head list.

    Adds up to users times ``unit`` exactly: what is missing or rounded away is in the last cell.
    """
    record_squares: int
    """The sum over users of min(unit, Σ f²//unit) over listed records."""
    query_squares: int
    """The same over listed queries, each with all its cells, ⟨q,⋆⟩ among them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportCounts:
    """What reports named: cells, and queries where clients were asked for the query only."""

    cells: IntArray
    """How many reports named each cell."""
    cell_reports: int
    """How many reports those are; under LocalAlg each names one cell."""
    queries: IntArray
    """How many reports named each query (⋆ last): zeros if no client reports only a query."""
    query_reports: int

    @classmethod
    def one_cell_each(cls, counts: IntArray, cells: Cells) -> "ReportCounts":
        """Return what reports named of which each names one of ``cells``."""
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
        """How many users, with or without records. Public, and fixed before data is seen."""
        ...

    def split(self, fraction: float) -> "tuple[OptInUsers, OptInUsers]":
        """Part the users at random, without looking at a record (Fig. 2 line 1).

        The first part has the given share of the users, rounded, and both have at least one.
        """
        ...

    def record_counts(self, records_per_user: int) -> RecordSums:
        """Count the distinct records in a uniform sample of at most that many per user."""
        ...

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count the same sample by the cells of ``head_list``.

        Adds up to users times records a user: what a user lacks counts as ⟨⋆,⋆⟩.
        """
        ...

    def distinct_records(self, most: int) -> IntArray:
        """Return how many users have 0, 1, ..., ``most`` or more distinct records."""
        ...

    def record_weights(self, weights: IntArray, class_width: int) -> RecordSums:
        """Add up what each user gives to each of their distinct records.

        A user with more than the cap of ``len(weights) - 1`` keeps that many, drawn at random
        without looking at how often a record occurs.

        Args:
            weights: By k: what a user who keeps k records adds to each of them.
            class_width: A sum s is in the class of the next multiple of it, ⌈s/width⌉·width.
        """
        ...

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        """Add up the users' shares f(r) = ⌊unit · (rows with r) / (rows with a record)⌋ by cell.

        Of all rows, not of a sample. Other URLs of a listed query go to ⟨q,⋆⟩, other queries and
        users without records to ⟨⋆,⋆⟩.

        Args:
            head_list: Whose cells.
            unit: A user's whole data, at most 2^30 for squares and sums to fit 64 bits.
        """
        ...


class Clients(Protocol):
    """Users whose records never leave their devices: only reports do."""

    @property
    def size(self) -> int:
        """How many clients are enrolled; each sends exactly the reports asked for."""
        ...

    def report_counts(self, head_list: HeadList) -> ReportCounts:
        """Return what the reports against ``head_list`` named."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportingClients:
    """Clients of whom only the counts of their reports are known; all reports are for one list."""

    counts: ReportCounts
    records_per_client: int

    @property
    def size(self) -> int:
        """How many clients reported."""
        return (self.counts.cell_reports + self.counts.query_reports) // self.records_per_client

    def report_counts(self, head_list: HeadList) -> ReportCounts:  # noqa: ARG002 - of that list
        """Return what the reports named."""
        return self.counts


class Population(Protocol):
    """Everybody: the few who opted in and all others."""

    @property
    def opt_in(self) -> OptInUsers:
        """The paper's O."""
        ...

    @property
    def clients(self) -> Clients:
        """The paper's C."""
        ...
