"""Counts of the items that many clients' subsets name, drawn from how many clients hold each item.

The counts have exactly the same distribution as the sum of single reports. A report is the truth
and d - 1 uniform others with the channel's truthful share, else a uniform d-subset of all items
(``truthful_share``). Then item by item: a
client with j picks left among R items that it may still pick takes the next with probability j/R,
so clients need only be counted by j. Truthful clients whose own item lies ahead have one item less
to pick from; those of them who hold the present item are a uniform part, because up to their own
item all were treated alike.
"""

from fractions import Fraction
from typing import Protocol

import numpy as np

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.binomial import binomial, binomial_each
from blender_dp.core.exact.enclosure import Enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray


class Coins(Protocol):
    """The three draws that counting needs; secure for people, fast for an evaluation."""

    def truthful(self, clients: IntArray, share: Fraction) -> IntArray:
        """Return how many clients of each item are truthful."""
        ...

    def picking(self, clients: IntArray, picks: IntArray, among: IntArray) -> IntArray:
        """Draw how many clients of each group pick, each with probability picks/among."""
        ...

    def part(self, clients: IntArray, count: int) -> IntArray:
        """Return the group sizes of a uniformly drawn part of ``count`` clients."""
        ...


def count_subsets(true_counts: IntArray, channel: SubsetChannel, coins: Coins) -> IntArray:
    """Return how many reports name each item, given how many clients hold it."""
    if channel.size == 1:
        return true_counts.copy()
    d = channel.subset_size
    counts = coins.truthful(true_counts, channel.truthful_share())
    # By the number of picks left: ``free`` may pick any item that is left, ``bound`` any but
    # their own, which lies ahead.
    free, bound = (np.zeros(d + 1, dtype=np.int64) for _ in range(2))
    free[d] = true_counts.sum() - counts.sum()
    bound[d - 1] = counts.sum()
    for item, own in enumerate(counts.tolist()):
        left = channel.size - item
        holders = coins.part(bound, own)
        bound -= holders
        counts[item] += _pick(free, left, bound, left - 1, coins)
        free += holders
    return counts


def _pick(free: IntArray, free_left: int, bound: IntArray, bound_left: int, coins: Coins) -> int:
    """Draw which clients pick the present item; return their number, and update the groups."""
    j_free, j_bound = np.flatnonzero(free), np.flatnonzero(bound)
    picked = coins.picking(
        np.concatenate([free[j_free], bound[j_bound]]),
        np.concatenate([j_free, j_bound]),
        np.repeat([free_left, bound_left], [len(j_free), len(j_bound)]),
    )
    for clients, j, done in (
        (free, j_free, picked[: len(j_free)]),
        (bound, j_bound, picked[len(j_free) :]),
    ):
        clients[j] -= done
        clients[j - 1] += done  # clients without a pick left do not pick
    return int(picked.sum())


class SecureCoins:
    """Exact draws from a cryptographic source: integers only."""

    def __init__(self, randomness: Randomness) -> None:
        self._randomness = randomness

    def truthful(self, clients: IntArray, share: Fraction) -> IntArray:
        """Return how many clients of each item are truthful."""

        def enclosure(bits: int) -> Enclosure:
            return Enclosure.of(share, share, bits)

        drawn = [binomial(count, enclosure, self._randomness) for count in clients.tolist()]
        return np.array(drawn, dtype=np.int64)

    def picking(self, clients: IntArray, picks: IntArray, among: IntArray) -> IntArray:
        """Draw how many clients of each group pick, each with probability picks/among."""
        return binomial_each(clients, picks, among, self._randomness)

    def part(self, clients: IntArray, count: int) -> IntArray:
        """Return the group sizes of a uniformly drawn part of the clients."""
        if not count:
            return np.zeros_like(clients)
        last = np.cumsum(clients)
        chosen = self._randomness.choose(count, int(last[-1]))
        return np.bincount(np.searchsorted(last, chosen, side="right"), minlength=len(clients))
