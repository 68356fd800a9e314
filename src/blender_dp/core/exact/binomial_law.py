"""The law of a binomial number between integers, its far tails bounded.

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
    """What all numbers before ``first`` weigh together, at most."""
    above: int
    """What all numbers after the last one weigh together, at most."""

    @property
    def least_total(self) -> int:
        """What all numbers weigh together, at least."""
        return sum(self.low)

    @property
    def most_total(self) -> int:
        """What all numbers weigh together, at most."""
        return sum(self.high) + self.below + self.above


def binomial_law(trials: int, probability: Fraction, bits: int) -> BinomialLaw:
    """Enclose the law of Bin(trials, probability), whose most likely number weighs 2^bits.

    Args:
        trials: How many there are, 0 or more.
        probability: How likely each succeeds: above 0, below 1.
        bits: How far the weights reach down from the largest one.
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
    """Return the weights on one side of the largest one, and what lies beyond them at most."""
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
