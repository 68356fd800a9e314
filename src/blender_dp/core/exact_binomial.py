"""Binomial counts drawn without rounding, at a cost of about two bits a trial.

The law. A coin that succeeds with probability p is a uniform number U < p. Compare the binary
digits of U, drawn one at a time, with those of p: the first that differs decides. For n coins
at once only the number still tied matters: of n tied coins, Binomial(n, 1/2) show a 1, which
is the number of ones among n uniform bits. So the result is exactly Binomial(n, p), for any
irrational p whose digits can be computed, and about 2n bits are used. (For one coin: Knuth
and Yao, "The complexity of nonuniform random number generation", 1976.)
"""

from collections.abc import Callable

from blender_dp.core.enclosure import Enclosure
from blender_dp.core.randomness import Randomness

FIRST_BITS = 96
"""Binary digits of p asked for first; one coin in 2^96 would leave it undecided."""


def binomial(trials: int, probability: Callable[[int], Enclosure], randomness: Randomness) -> int:
    """Draw the number of successes among ``trials`` coins.

    Args:
        trials: How many coins.
        probability: Encloses p in numbers of so many bits; narrower for more bits.
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
