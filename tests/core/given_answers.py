"""Opt-in users who answer every question of the curator's steps with given numbers."""

from dataclasses import dataclass

import numpy as np
from core.users_never_asked import NeverAsked

from blender_dp.audit.chosen_users import ChosenSums
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ShareSums


@dataclass(frozen=True)
class GivenAnswers(NeverAsked):
    """1,000 users: their answers need not fit together, as every step adds noise to its own."""

    records_each: int = 1
    """How many distinct records a user has, as the scalar that decides the branch sees it."""
    counts: tuple[int, ...] = (300,)
    """How many users have each record, by the numbers of ``record``."""
    cells: tuple[int, ...] = (200, 150, 30, 320, 0, 300)
    """How many records fall into each cell of :data:`LISTED`."""

    @property
    def size(self) -> int:
        return 1000

    def distinct_records(self, most: int) -> IntArray:
        numbers = np.zeros(most + 1, dtype=np.int64)
        numbers[self.records_each] = self.size
        return numbers

    def record_counts(self, records_per_user: int) -> ChosenSums:
        assert records_per_user == 1
        return ChosenSums(sums=np.array(self.counts, dtype=np.int64), width=1)

    def record_weights(self, weights: IntArray, class_width: int) -> ChosenSums:
        return ChosenSums(
            sums=np.array(self.counts, dtype=np.int64) * weights[self.records_each],
            width=class_width,
        )

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        assert (head_list.cells.cell_count, records_per_user) == (len(self.cells), 1)
        return np.array(self.cells, dtype=np.int64)

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        assert (head_list.cells.cell_count, unit) == (len(self.cells), UNIT)
        return ShareSums(
            cells=unit * np.array(self.cells, dtype=np.int64),
            record_squares=400 * unit,
            query_squares=500 * unit,
        )
