"""What many clients name by subset selection, drawn from how many hold each item.

For evaluation only: the law is that of :func:`~blender_dp.core.local_alg.sharp.subset_counts` up
to the rounding of probabilities to doubles, and the coins come from a fast seeded generator that
is no secret. Every client names exactly d items: drawing each item by a coin of its own would
have other covariances, and the estimates would no longer add up to one.
"""

from fractions import Fraction

import numpy as np

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.local_alg.counted_subsets import count_subsets


def subset_counts_from_cell_counts(
    true_counts: IntArray, channel: SubsetChannel, rng: np.random.Generator
) -> IntArray:
    """Return how many reports name each item, when so many clients truly hold each."""
    return count_subsets(true_counts, channel, _FastCoins(rng))


class _FastCoins:
    """The draws of counting, by numpy's generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def truthful(self, clients: IntArray, share: Fraction) -> IntArray:
        """Return how many clients of each item are truthful."""
        return self._rng.binomial(clients, float(share))

    def picking(self, clients: IntArray, picks: IntArray, among: IntArray) -> IntArray:
        """Return how many of each group's clients pick."""
        return self._rng.binomial(clients, picks / among)

    def part(self, clients: IntArray, count: int) -> IntArray:
        """Return how a uniform part of the clients is spread over the groups."""
        return self._rng.multivariate_hypergeometric(clients, count)
