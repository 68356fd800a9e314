"""Secret permutation of whole numbers, computed the same way by every engine.

It decides which of a user's records are sampled and which group a user belongs to. It is not the
noise that protects a user, which :mod:`blender_dp.core.exact.randomness` draws. A number only has
to be unpredictable without the key and evenly distributed, in the integer arithmetic that all
databases share. x^5 permutes the integers modulo the prime 2^31 - 1, because 5 does not
divide 2^31 - 2; no product reaches 2^63.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals as nw

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness

PRIME = 2**31 - 1
Number = TypeVar("Number", int, nw.Expr)
"""A number, or a column of numbers in an engine's own arithmetic: one formula serves both."""


@dataclass(frozen=True, slots=True)
class KeyedPermutation:
    """One key: x becomes (multiplier·x + offset)^5 modulo the prime."""

    multiplier: int
    """From 1 to PRIME - 1: with a multiple of the prime, all numbers would have the same image."""
    offset: int

    def __post_init__(self) -> None:
        if not 0 < self.multiplier < PRIME:
            raise BrokenInvariantError("the multiplier of a permutation is below the prime, not 0")

    @classmethod
    def draw(cls, randomness: Randomness) -> "KeyedPermutation":
        """Draw a fresh key."""
        return cls(1 + randomness.below(PRIME - 1), randomness.below(PRIME))

    def of_small(self, x: int) -> int:
        """Permute a number from 0 to 2^31 - 1."""
        y = self._line(x)
        squared = y * y % PRIME
        return squared * squared % PRIME * y % PRIME

    def of_large(self, x: int) -> int:
        """Hash a number from 0 to 2^62 - 1 to 0 .. 2^31 - 2."""
        return self.of_small((self.of_small(quotient(x, PRIME)) + x % PRIME) % PRIME)

    def with_shuffled(self, frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
        """Add ``shuffled``, :meth:`of_large` of every number in a column.

        In a few steps: one expression would name the column 55 times, and Spark would need longer
        to plan it than to compute it. Each step costs an engine time to plan, too.
        """
        x, y, power = nw.col(name), nw.col("shuffled"), nw.col("power")
        fifth = power * power % PRIME * y % PRIME
        high = frame.with_columns(low=x % PRIME, shuffled=self._line(quotient(x, PRIME)))
        squared = high.with_columns(power=y * y % PRIME)
        folded = squared.with_columns(shuffled=self._line((fifth + nw.col("low")) % PRIME))
        squared = folded.with_columns(power=y * y % PRIME)
        return squared.with_columns(shuffled=fifth).drop("low", "power")

    def _line(self, x: Number) -> Number:
        return (x * self.multiplier + self.offset) % PRIME


def quotient(dividend: Number, divisor: Number | int) -> Number:
    """Divide whole numbers, none negative, and round down: exact below 2^62 on every engine.

    Spark divides doubles and rounds down, so that rounding can change the result by one. Half a
    divisor is added to a multiple of the divisor first: the quotient is then far from the next
    whole number, and exact in doubles up to 2^31 + 1, the largest that the prime gives.
    """
    whole = dividend - dividend % divisor
    return (whole + divisor // 2) // divisor
