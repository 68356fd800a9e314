"""Binomial distribution enclosed between integers, with bounds on its far tails.

Weights are relative to the most likely number and go from one number to the next by a quotient
that is a fraction: no factorial and no power is computed. The steps end where rounding up undoes
them. From there on each quotient is smaller than the one before, so the rest weighs no more than a
geometric series.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor


@dataclass(frozen=True, slots=True, kw_only=True)
class BinomialLaw:
    """The weights of the numbers from ``first`` on, each between two integers."""

    first: int
    low: list[int]
    high: list[int]
    below: int
    """Bound on the weight of all numbers before ``first``."""
    above: int
    """Bound on the weight of all numbers after the last one."""

    @property
    def least_total(self) -> int:
        """Lower bound on the weight of all numbers."""
        return sum(self.low)

    @property
    def most_total(self) -> int:
        """Upper bound on the weight of all numbers."""
        return sum(self.high) + self.below + self.above


def binomial_law(trials: int, probability: Fraction, bits: int) -> BinomialLaw:
    """Enclose the law of Bin(trials, probability), whose most likely number weighs 2^bits.

    Args:
        trials: Number of trials, 0 or more.
        probability: Probability of success: above 0, below 1.
        bits: Bits of the largest weight.
    """
    hit, miss = probability.numerator, probability.denominator - probability.numerator
    mode = min(floor((trials + 1) * probability), trials)

    def up(i: int) -> tuple[int, int]:
        return (trials - i) * hit, (i + 1) * miss

    def down(i: int) -> tuple[int, int]:
        return i * miss, (trials - i + 1) * hit

    low_down, high_down, below = _side(mode, -1, down, bits)
    low_up, high_up, above = _side(mode, 1, up, bits)
    return BinomialLaw(
        first=mode - len(low_down),
        low=[*reversed(low_down), 1 << bits, *low_up],
        high=[*reversed(high_down), 1 << bits, *high_up],
        below=below,
        above=above,
    )


def _side(
    start: int, step: int, quotient: Callable[[int], tuple[int, int]], bits: int
) -> tuple[list[int], list[int], int]:
    """Return the weights on one side of the largest one, and a bound on the rest."""
    lows: list[int] = []
    highs: list[int] = []
    low = high = 1 << bits
    at = start
    while True:
        numerator, denominator = quotient(at)
        low, before = low * numerator // denominator, high
        high = -(-high * numerator // denominator)
        if not high:
            return lows, highs, 0
        if high == before and numerator < denominator:
            return lows, highs, -(-high * numerator // (denominator - numerator))
        lows.append(low)
        highs.append(high)
        at += step
