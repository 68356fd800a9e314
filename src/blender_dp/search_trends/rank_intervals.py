"""Simultaneous confidence intervals for the ranks of queries.

Every pair of queries is compared. Holm's procedure (1979) over all tests "A is above B" keeps the
probability of any wrong answer below a level, for any dependence between the estimates. A query
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
    """Ranks from 1 on, for items in the order of their estimates."""

    best: IntArray
    worst: IntArray
    group: IntArray
    """Group of each item, from 1; differences within a group are not significant."""


def rank_intervals(estimate: FloatArray, std_error: FloatArray, level: float) -> RankIntervals:
    """Return the true ranks that items may have; any is wrong with probability at most ``level``.

    Args:
        estimate: Estimates of shares of one whole, the largest first.
        std_error: Standard error of each.
        level: Probability that any of the intervals is wrong.
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
        """Return by how many standard errors each of some items is above each of others."""
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
        """Return the value that a statistic must reach; it falls with every rejected hypothesis."""
        hypotheses = len(self._estimate) * (len(self._estimate) - 1)
        critical, found, before = math.inf, 0, -1
        while before < found < hypotheses:
            critical = critical_value(level / (hypotheses - found))
            before, found = found, self._reaching(critical)
        return critical

    def _reaching(self, critical: float) -> int:
        return sum(int(np.count_nonzero(z >= critical)) for _, z in self.statistics())

    def groups(self, critical: float) -> IntArray:
        """Number groups from the top: an item that differs from a member begins the next group."""
        number = np.ones(len(self._estimate), dtype=np.int64)
        begin = 0
        for item in range(1, len(number)):
            differs: BoolArray = self.above(slice(begin, item), slice(item, item + 1)) >= critical
            number[item] = number[item - 1] + int(differs.any())
            begin = item if differs.any() else begin
        return number
