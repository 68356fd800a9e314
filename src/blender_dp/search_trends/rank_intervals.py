"""Simultaneous confidence intervals for the ranks of queries.

Every pair of queries is compared; Holm's procedure (1979) over all "is A above B" keeps the
probability of any wrong answer below a level, however the estimates depend on each other. A query
then ranks below those that are surely above it and above those that are surely below it. All
these intervals hold at once (Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks with
applications to mobility across neighborhoods and academic achievement across countries", 2024).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from blender_dp.core.head_list.cells import BoolArray, FloatArray, IntArray
from blender_dp.search_trends.multiple_testing import critical_value

_ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankIntervals:
    """Places from 1 on, for items in the order of their estimates."""

    best: IntArray
    worst: IntArray
    group: IntArray
    """Numbered from 1; no two items of a group can be told apart."""


def rank_intervals(estimate: FloatArray, std_error: FloatArray, level: float) -> RankIntervals:
    """Return the places that items may truly have; wrong anywhere with probability ``level``.

    Args:
        estimate: Of shares of one whole, the largest first.
        std_error: Of each.
        level: How often any of the intervals may miss.
    """
    pairs = _Pairs(estimate, std_error)
    critical = pairs.holm_critical_value(level)
    above = np.zeros(len(estimate), dtype=np.int64)
    below = np.zeros(len(estimate), dtype=np.int64)
    for first, z in pairs.statistics():
        surely = z >= critical
        above[first:] += surely.sum(axis=0)
        below[first : first + len(z)] += surely.sum(axis=1)
    return RankIntervals(best=above + 1, worst=len(estimate) - below, group=pairs.groups(critical))


class _Pairs:
    """Differences between items in units of their standard errors."""

    def __init__(self, estimate: FloatArray, std_error: FloatArray) -> None:
        self._estimate, self._std_error = estimate, std_error
        # Shares of one whole are negatively correlated, as the cells of a multinomial are. A
        # report names a query with probability at most p + 1/k, whether it is true or random.
        share = np.clip(estimate, 0, None) + 1 / (len(estimate) + 1)
        share = np.minimum(share, 0.5)
        self._coupling = std_error * np.sqrt(share / (1 - share))

    def above(self, higher: slice, lower: slice) -> FloatArray:
        """Return how many standard errors each of some items lies above each of others."""
        difference = self._estimate[higher, np.newaxis] - self._estimate[np.newaxis, lower]
        variance = (
            self._std_error[higher, np.newaxis] ** 2
            + self._std_error[np.newaxis, lower] ** 2
            + 2 * np.outer(self._coupling[higher], self._coupling[lower])
        )
        z: FloatArray = np.divide(
            difference, np.sqrt(variance), out=np.zeros_like(difference), where=variance > 0
        )
        return z

    def statistics(self) -> Iterator[tuple[int, FloatArray]]:
        """Yield the statistics of some items, from the first one on, against all from there on.

        No item lies above one before it, since the largest come first.
        """
        for first in range(0, len(self._estimate), _ROWS_AT_ONCE):
            yield first, self.above(slice(first, first + _ROWS_AT_ONCE), slice(first, None))

    def holm_critical_value(self, level: float) -> float:
        """Return what a statistic must reach: every answer found makes room for others."""
        hypotheses = len(self._estimate) * (len(self._estimate) - 1)
        critical, found, before = math.inf, 0, -1
        while before < found < hypotheses:
            critical = critical_value(level / (hypotheses - found))
            before, found = found, self._reaching(critical)
        return critical

    def _reaching(self, critical: float) -> int:
        return sum(int(np.count_nonzero(z >= critical)) for _, z in self.statistics())

    def groups(self, critical: float) -> IntArray:
        """Number groups from the top: an item that differs from a member begins the next."""
        number = np.ones(len(self._estimate), dtype=np.int64)
        begin = 0
        for item in range(1, len(number)):
            differs: BoolArray = self.above(slice(begin, item), slice(item, item + 1)) >= critical
            number[item] = number[item - 1] + int(differs.any())
            begin = item if differs.any() else begin
        return number
