"""Binomial counts drawn without rounding, at a cost of about two bits per trial.

The law. A coin that succeeds with probability p is a uniform number U < p. Compare the binary
digits of U, drawn one at a time, with those of p: the first that differs decides. For n coins
at once only the number still tied matters: of n tied coins, Binomial(n, 1/2) show a 1, which
is the number of ones among n uniform bits. So the result is exactly Binomial(n, p), for any
irrational p whose digits can be computed, and about 2n bits are used. (For one coin: Knuth
and Yao, "The complexity of nonuniform random number generation", 1976.)
"""

from collections.abc import Callable

import numpy as np

from blender_dp.core.exact.enclosure import Enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray

FIRST_BITS = 96
"""Binary digits of p that are computed first; they decide all but one coin in 2^96."""
_FEW = 1 << 11
"""Largest total number of coins for which tossing each one is faster."""


def binomial(trials: int, probability: Callable[[int], Enclosure], randomness: Randomness) -> int:
    """Draw the number of successes among ``trials`` coins.

    Args:
        trials: Number of coins.
        probability: Returns an enclosure of p with the given number of bits.
        randomness: Where the coins come from.
    """
    successes, tied, position, bits = 0, trials, 0, FIRST_BITS
    expansion, known = probability(bits).leading_digits()
    while tied:
        while position >= known:
            bits *= 2
            expansion, known = probability(bits).leading_digits()
        position += 1
        ones = randomness.bits(tied).bit_count()
        if expansion >> (known - position) & 1:
            successes += tied - ones
            tied = ones
        else:
            tied -= ones
    return successes


def binomial_each(
    trials: IntArray, numerators: IntArray, denominators: IntArray, randomness: Randomness
) -> IntArray:
    """Draw the number of successes for each kind of coin, which succeeds with probability a/b.

    The binary digits of a/b come from doubling the remainder. After each digit, the coins that are
    still tied succeed with probability remainder/b. Once few coins are left, each is tossed by
    itself: it succeeds if a uniform integer below b is below the remainder.

    Args:
        trials: Number of coins of each kind.
        numerators: a of each kind, from 0 to b.
        denominators: b of each kind, from 1 to 2^62.
        randomness: Where the coins come from.
    """
    successes = np.where(numerators == denominators, trials, 0)
    tied = np.where((numerators > 0) & (numerators < denominators), trials, 0)
    remainder = numerators.copy()
    while tied.sum() > _FEW:
        remainder = 2 * remainder
        digit_is_one = remainder >= denominators
        remainder = np.where(digit_is_one, remainder - denominators, remainder)
        ones = _heads(tied, randomness)
        successes += np.where(digit_is_one, tied - ones, 0)
        tied = np.where(digit_is_one, ones, tied - ones)
    kind = np.repeat(np.arange(len(tied)), tied)
    succeeds = randomness.below_each(denominators[kind]) < remainder[kind]
    return successes + np.bincount(kind[succeeds], minlength=len(tied))


def _heads(coins: IntArray, randomness: Randomness) -> IntArray:
    """Return the number of ones among each count of fair coins."""
    kind = np.flatnonzero(coins)
    words_each, left_out = (coins[kind] + 63) >> 6, -coins[kind] & 63
    end = np.cumsum(words_each)
    words = randomness.words(int(end[-1]))
    ones = np.bitwise_count(words)
    # The last word of each count has more bits than coins are left.
    ones[end - 1] = np.bitwise_count(words[end - 1] >> left_out.astype(np.uint64))
    heads = np.zeros_like(coins)
    heads[kind] = np.add.reduceat(ones, end - words_each, dtype=np.int64)
    return heads
