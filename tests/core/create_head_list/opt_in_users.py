"""Opt-in users reduced to what CreateHeadList asks of them: how often each record occurs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from blender_dp.core.cells import IntArray
from blender_dp.core.head_list import HeadList, Record


@dataclass(frozen=True, slots=True)
class CountedUsers:
    """Users whose records have these counts, in this order."""

    counts: Mapping[Record, int]

    @property
    def size(self) -> int:
        return sum(self.counts.values())

    def split(self, fraction: float) -> NoReturn:
        raise NotImplementedError

    def record_counts(self, records_per_user: int) -> "CountedUsers":
        assert records_per_user >= 1
        return self

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        raise NotImplementedError

    def classes(self) -> tuple[IntArray, IntArray]:
        counts, sizes = np.unique(list(self.counts.values()), return_counts=True)
        return counts.astype(np.int64), sizes.astype(np.int64)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[Record]:
        return [
            [record for record, of in self.counts.items() if of == count][at]
            for count, positions in chosen
            for at in positions
        ]
