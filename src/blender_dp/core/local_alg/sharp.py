"""Subset selection: the report that a client of the ``sharp`` preset sends.

Privacy: ε in the local model, one report per client; see PRIVACY.md beside this file.
"""

from collections.abc import Iterator

import numpy as np

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.local_alg.counted_subsets import SecureCoins, count_subsets

_BLOCK_BYTES = 1 << 21
"""Size of a table with one row per client and one column per item, which fits the cache."""


def choose_subset(item: int, channel: SubsetChannel, randomness: Randomness) -> tuple[int, ...]:
    """Return the d items that one client names instead of ``item``, increasing.

    The others are drawn as positions 0 .. N-2, where the position of the client's own item stands
    for the last item (Floyd's algorithm: a position drawn twice gives way to the newest one).

    Args:
        item: The client's true item. It is sent only if it is drawn.
        channel: The threshold of this question.
        randomness: Source of the noise.
    """
    if channel.size == 1:
        return (0,)
    names_truth = randomness.bits(64) < channel.threshold
    last = channel.size - 1
    named: set[int] = set()
    for newest in range(last - channel.subset_size + names_truth, last):
        draw = randomness.below(newest + 1)
        named.add(newest if draw in named else draw)
    if item in named and item != last:
        named ^= {item, last}
    if names_truth:
        named.add(item)
    return tuple(sorted(named))


def choose_subsets(
    true_items: IntArray, channel: SubsetChannel, randomness: Randomness
) -> Iterator[BoolArray]:
    """Yield the items of many clients, in tables with one row per client.

    :func:`choose_subset`, vectorised over clients.
    """
    rows = max(_BLOCK_BYTES // channel.size, 1)
    for start in range(0, len(true_items), rows):
        yield _choose_block(true_items[start : start + rows], channel, randomness)


def _choose_block(item: IntArray, channel: SubsetChannel, randomness: Randomness) -> BoolArray:
    if channel.size == 1:
        return np.ones((len(item), 1), dtype=np.bool_)
    names_truth = randomness.words(len(item)) < np.uint64(channel.threshold)
    last = channel.size - 1
    named = np.zeros(len(item) * channel.size, dtype=np.bool_)  # flat: found by one number
    everybody = np.arange(0, len(named), channel.size)
    client = everybody[~names_truth]  # a client that names the truth draws one position fewer
    for newest in range(last - channel.subset_size, last):
        place = randomness.below_many(newest + 1, len(client))
        place += client
        taken = np.flatnonzero(named.take(place))
        place[taken] = client[taken] + newest
        named[place] = True
        client = everybody
    named[everybody + last] = named[everybody + item]
    named[everybody + item] = names_truth
    return named.reshape(len(item), channel.size)


def subset_counts(
    true_counts: IntArray, channel: SubsetChannel, randomness: Randomness
) -> IntArray:
    """Return the number of reports that name each item, given the true numbers of clients."""
    return count_subsets(true_counts, channel, SecureCoins(randomness))
