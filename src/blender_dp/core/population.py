"""What the five steps may ask of people's data: numbers, never rows.

A log in memory, in DuckDB or on a cluster and the collection service's database all answer
these questions, so the same :mod:`~blender_dp.core.blender` runs on each.
"""

from collections.abc import Sequence
from typing import Protocol

from blender_dp.core.cells import IntArray
from blender_dp.core.head_list import HeadList, Record


class RecordCounts(Protocol):
    """How often each distinct record occurs, without saying which record, until one is chosen."""

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every count that occurs, and how many distinct records have it."""
        ...

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[Record]:
        """Return the records at these positions within their count's class.

        The order of a class is fixed by the data and otherwise arbitrary; the positions are
        drawn uniformly, so it does not matter.
        """
        ...


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

    def record_counts(self, records_per_user: int) -> RecordCounts:
        """Count the distinct records in a uniform sample of at most so many a user."""
        ...

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count the same sample by the cells of ``head_list``.

        Adds up to users times records a user: what a user lacks counts as ⟨⋆,⋆⟩.
        """
        ...


class Clients(Protocol):
    """Users whose records never leave their devices: only reports do."""

    @property
    def size(self) -> int:
        """How many clients are enrolled; each sends exactly the reports asked for."""
        ...

    def report_counts(self, head_list: HeadList) -> IntArray:
        """Return how many reports named each cell of ``head_list``."""
        ...


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
