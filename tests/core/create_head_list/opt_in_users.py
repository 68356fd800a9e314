"""Opt-in users reduced to what CreateHeadList asks of them: how often each record occurs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from core.users_never_asked import NeverAsked

from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import Record


@dataclass(frozen=True)
class CountedUsers(NeverAsked):
    """Users whose records have these counts, in this order."""

    counts: Mapping[Record, int]

    @property
    def size(self) -> int:
        return sum(self.counts.values())

    def record_counts(self, records_per_user: int) -> "CountedUsers":
        assert records_per_user >= 1
        return self

    def classes(self) -> tuple[IntArray, IntArray]:
        counts, sizes = np.unique(list(self.counts.values()), return_counts=True)
        return counts.astype(np.int64), sizes.astype(np.int64)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        return [
            ([record for record, of in self.counts.items() if of == count][at], count)
            for count, positions in chosen
            for at in positions
        ]

    def sums_of(self, records: Sequence[Record]) -> IntArray:
        return np.array([self.counts.get(record, 0) for record in records], dtype=np.int64)

    def largest_by_query(self) -> tuple[IntArray, IntArray]:
        largest: dict[str, int] = {}
        for record, count in self.counts.items():
            largest[record.query] = max(count, largest.get(record.query, 0))
        return np.unique(np.array(list(largest.values()), dtype=np.int64), return_counts=True)
