"""Cells of a head list, numbered: both groups count them and reports name them.

Query by query in the order of the list: its URLs, then ⟨q,⋆⟩; last of all ⟨⋆,⋆⟩. Reports send the
number of a cell, so ⋆ is never a string.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Numbers = TypeVar("Numbers", FloatArray, IntArray)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Sizes and positions, every array indexed by query (⋆ last) or by cell (⟨⋆,⋆⟩ last)."""

    urls_per_query: IntArray
    """k_q of every query: its listed URLs and ⋆; 1 for the query ⋆."""
    first_cell: IntArray
    """The cell of the first URL of every query."""
    query_of_cell: IntArray
    """The query (its position) that every cell belongs to."""

    @classmethod
    def of(cls, listed_urls: Iterable[int]) -> "Cells":
        """Number the cells of a list whose queries have this many listed URLs."""
        k_q = np.array([*(n + 1 for n in listed_urls), 1], dtype=np.int64)
        first = np.cumsum(k_q) - k_q
        return cls(
            urls_per_query=k_q,
            first_cell=first,
            query_of_cell=np.repeat(np.arange(len(k_q)), k_q),
        )

    @property
    def query_count(self) -> int:
        """k, the number of queries with ⋆ among them."""
        return len(self.urls_per_query)

    @property
    def cell_count(self) -> int:
        """K, the number of cells with every ⋆ among them."""
        return len(self.query_of_cell)

    @property
    def other(self) -> int:
        """The cell ⟨⋆,⋆⟩: everything that is not listed."""
        return self.cell_count - 1

    @property
    def star_of_query(self) -> IntArray:
        """The cell ⟨q,⋆⟩ of every query; ⟨⋆,⋆⟩ for the query ⋆."""
        return self.first_cell + self.urls_per_query - 1

    @property
    def is_listed(self) -> BoolArray:
        """Whether each cell is a listed ⟨q,u⟩, without ⋆."""
        listed = np.ones(self.cell_count, dtype=np.bool_)
        listed[self.star_of_query] = False
        return listed

    @property
    def listed(self) -> IntArray:
        """The cells of the listed records, in order."""
        return np.flatnonzero(self.is_listed)

    @property
    def is_discovered(self) -> BoolArray:
        """Whether each cell was found by a value of its own.

        That is a listed ⟨q,u⟩, or ⟨q,⋆⟩ of a query that is listed without URLs.
        """
        found = self.is_listed
        found[self.first_cell[:-1][self.urls_per_query[:-1] == 1]] = True
        return found

    @property
    def discovered(self) -> IntArray:
        """The cells that were found by a value of their own, in order."""
        return np.flatnonzero(self.is_discovered)

    def by_query(self, values: Numbers) -> Numbers:
        """Add up the values of each query's cells."""
        return np.add.reduceat(values, self.first_cell)
