"""Subset selection: the report that a client of the ``sharp`` preset sends.

Privacy: ε in the local model, one report per client; see PRIVACY.md beside this file.
"""

from collections.abc import Iterator

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.local_alg.counted_subsets import SecureCoins, count_subsets
from blender_dp.core.local_alg.many_subsets import SubsetTables

_BLOCK_BYTES = 1 << 21
"""Size of a table with one row per client and one column per item. Larger ones leave the cache."""


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

    Each row has the distribution of :func:`choose_subset`.
    """
    rows = max(min(_BLOCK_BYTES // channel.size, len(true_items)), 1)
    tables = SubsetTables(channel, rows, randomness)
    for start in range(0, len(true_items), rows):
        yield tables.draw(true_items[start : start + rows])


def subset_counts(
    true_counts: IntArray, channel: SubsetChannel, randomness: Randomness
) -> IntArray:
    """Return the number of reports that name each item, given the true numbers of clients."""
    return count_subsets(true_counts, channel, SecureCoins(randomness))
