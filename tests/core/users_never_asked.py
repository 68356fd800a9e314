"""Opt-in users of whom a test asks only what it defines itself."""

from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import OptInUsers, ShareSums, SumsByName


class NeverAsked:
    """Answers nothing."""

    @property
    def size(self) -> int:
        raise NotImplementedError

    def split(self, fraction: float) -> tuple[OptInUsers, OptInUsers]:
        raise NotImplementedError

    def without_urls(self) -> OptInUsers:
        raise NotImplementedError

    def record_counts(self, records_per_user: int) -> SumsByName:
        raise NotImplementedError

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        raise NotImplementedError

    def distinct_records(self, most: int) -> IntArray:
        raise NotImplementedError

    def record_weights(self, weights: IntArray, class_width: int) -> SumsByName:
        raise NotImplementedError

    def share_sums(self, head_list: HeadList, unit: int) -> ShareSums:
        raise NotImplementedError
