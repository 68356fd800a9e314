"""Survivors: records of a class of equal counts that pass a threshold, drawn for the class at once.

Every record of count c survives with the same probability π(c), independently of the others,
so the number of survivors among n_c such records is Binomial(n_c, π(c)) and, given their
number, every set of them is equally likely. That is the distribution of one draw per record, at the
cost of one draw per distinct count.
"""

from collections.abc import Callable

from blender_dp.core.exact.binomial import binomial
from blender_dp.core.exact.enclosure import Enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray


def draw_survivors(
    classes: tuple[IntArray, IntArray],
    passing: Callable[[int, int], Enclosure],
    randomness: Randomness,
) -> list[tuple[int, IntArray]]:
    """Return the counts that have survivors, and the positions of these within their class.

    Args:
        classes: Every count that occurs, with its number of distinct records.
        passing: Returns an enclosure of π(c) with the given number of bits.
        randomness: Source of the noise.
    """
    survivors = []
    for count, size in zip(*(column.tolist() for column in classes), strict=True):

        def passes(bits: int, count: int = count) -> Enclosure:
            return passing(count, bits)

        number = binomial(size, passes, randomness)
        if number:
            survivors.append((count, randomness.choose(number, among=size)))
    return survivors
