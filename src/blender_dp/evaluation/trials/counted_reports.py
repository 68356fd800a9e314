"""Counts of all clients' reports, drawn from the number of clients in each cell.

For evaluation only: the distribution is that of LocalAlg, or of
:func:`~blender_dp.core.local_alg.sharp.subset_counts`, up to the rounding of probabilities to
doubles, and the randomness comes from a fast seeded generator that is not secret.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from blender_dp.core.channels.channel import Channel
from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.local_alg.counted_subsets import count_subsets
from blender_dp.core.local_alg.device import report_counts
from blender_dp.engine.population.simulated_clients import Randomise


def all_at_once(rng: np.random.Generator) -> Randomise:
    """Return the randomisation that draws the counts of all reports at once."""

    def randomise(true_counts: IntArray, channel: Channel) -> IntArray:
        draw = _FAST.get(type(channel))
        if draw is None:
            return report_counts(true_counts, channel, Randomness.seeded(int(rng.integers(2**63))))
        return draw(true_counts, channel, rng)

    return randomise


def reports_from_cell_counts(
    true_counts: IntArray, channel: LocalAlgChannel, rng: np.random.Generator
) -> IntArray:
    """Return how many reports name each cell, given how many clients are in each.

    Paper: LocalAlg, Fig. 6 lines 12-21, for all clients of a cell at once: the number who keep
    their query is binomial, and so is the number of those who keep their URL. The others spread
    evenly.
    """
    cells = channel.cells
    if cells.query_count == 1:  # only ⟨⋆,⋆⟩ can be reported (reading R3)
        return true_counts.copy()
    query, size = cells.query_of_cell, cells.urls_per_query
    kept_query = rng.binomial(true_counts, channel.t)
    kept_both = rng.binomial(kept_query, channel.t_q[query])

    first, k = cells.first_cell, cells.query_count
    own_url = np.arange(cells.cell_count) - first[query]
    other_urls = _Groups(first[query], size[query], own_url)
    other_queries = _Groups(np.zeros_like(size), np.full(k, k), np.arange(k))
    # A false query may name any of its cells: the excluded place is beyond its last cell.
    any_urls = _Groups(first, size + 1, size)
    strays = other_queries.spread(np.add.reduceat(true_counts - kept_query, first), k, rng)
    return (
        kept_both
        + other_urls.spread(kept_query - kept_both, cells.cell_count, rng)
        + any_urls.spread(strays, cells.cell_count, rng)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Groups of people; the i-th may go to ``size`` places from ``first`` on, except its own."""

    first: IntArray
    size: IntArray
    own: IntArray

    def spread(self, people: IntArray, places: int, rng: np.random.Generator) -> IntArray:
        """Send people of each group to uniformly drawn places, and count them by place.

        A group with fewer people than places draws one place per person; a larger one draws a
        multinomial. Neither takes more steps than there are people.
        """
        is_small = people < self.size
        group = np.repeat(np.flatnonzero(is_small), people[is_small])
        place = rng.integers(0, self.size[group] - 1)
        place += place >= self.own[group]
        arrivals: IntArray = np.bincount(self.first[group] + place, minlength=places)
        for size in np.unique(self.size[~is_small]).tolist():
            large = np.flatnonzero(~is_small & (self.size == size))
            counts = rng.multinomial(people[large], np.full(size - 1, 1 / (size - 1)))
            other = np.arange(size - 1)
            place = other + (other >= self.own[large, np.newaxis])
            np.add.at(arrivals, self.first[large, np.newaxis] + place, counts)
        return arrivals


def subset_counts_from_cell_counts(
    true_counts: IntArray, channel: SubsetChannel, rng: np.random.Generator
) -> IntArray:
    """Return how many reports name each item, given how many clients hold each.

    Every client names exactly d items: drawing each item independently would change the
    covariances, and the estimates would not add up to one.
    """
    return count_subsets(true_counts, channel, _FastCoins(rng))


class _FastCoins:
    """Random draws for counting, by numpy's generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def truthful(self, clients: IntArray, share: Fraction) -> IntArray:
        """Return how many clients of each item are truthful."""
        return self._rng.binomial(clients, float(share))

    def picking(self, clients: IntArray, picks: IntArray, among: IntArray) -> IntArray:
        """Draw how many clients of each group pick, each with probability picks/among."""
        return self._rng.binomial(clients, picks / among)

    def part(self, clients: IntArray, count: int) -> IntArray:
        """Return the group sizes of a uniformly drawn part of the clients."""
        return self._rng.multivariate_hypergeometric(clients, count)


_FAST: dict[type[Channel], Callable[[IntArray, Any, np.random.Generator], IntArray]] = {
    LocalAlgChannel: reports_from_cell_counts,
    SubsetChannel: subset_counts_from_cell_counts,
}
"""Faster simulations, by the type of the channel; without one, devices are simulated."""
