"""The discrete Laplace law on the integers: its tail, and exact draws from it.

Pr[Y = y] = (1-a)/(1+a)·a^abs(y) with a = e^(-1/b) (reading R4). It stands wherever the
paper has real-valued Laplace noise of scale b on a count. Floating-point Laplace noise would
leave gaps that let a reader of a release tell count 0 from count 1 (Mironov, CCS 2012).

No function here takes or makes a float on its way to a draw.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import sinh

from blender_dp.core.enclosure import Enclosure, exp_enclosure
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.randomness import Randomness

_GUARD_BITS = 64
"""Working bits beyond those asked for: a power of at most 2^40 keeps what was asked."""


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Noise of scale b, in counts."""

    scale: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Fraction) or self.scale <= 0:
            raise BrokenInvariantError("the scale of exact noise is a positive fraction")

    def tail(self, y: int, bits: int) -> Enclosure:
        """Enclose Pr[Y ≥ y]: a^y/(1+a) for y ≥ 1, and 1 - a^(1-y)/(1+a) below."""
        if y < 1:
            return self.tail(1 - y, bits).complement()
        a, one_plus_a = self._decay(bits + _GUARD_BITS)
        return a.power(y).over(one_plus_a)

    def _decay(self, bits: int) -> tuple[Enclosure, Enclosure]:
        a = _exp_of_minus_inverse(self.scale, bits)
        one = 1 << bits
        return a, Enclosure(one + a.low, one + a.high, bits)

    def draw(self, randomness: Randomness) -> int:
        """Draw Y exactly.

        Algorithm 2 of Canonne, Kamath and Steinke, "The discrete Gaussian for differential
        privacy" (NeurIPS 2020), for scale t/s: integers only, rejection until a draw stands.
        """
        t, s = self.scale.numerator, self.scale.denominator
        while True:
            u = randomness.below(t)
            if not _exp_coin(u, t, randomness):
                continue
            v = 0
            while _exp_coin(1, 1, randomness):
                v += 1
            magnitude = (u + t * v) // s
            negative = randomness.bits(1)
            if not (negative and magnitude == 0):
                return -magnitude if negative else magnitude


def _exp_coin(numerator: int, denominator: int, randomness: Randomness) -> bool:
    """Return True with probability e^(-numerator/denominator), for a fraction from 0 to 1.

    Algorithm 1 of the same paper: of coins with probabilities x/1, x/2, x/3, … the first to
    fail has an odd number with probability e^-x.
    """
    k = 1
    while randomness.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


@cache
def _exp_of_minus_inverse(scale: Fraction, bits: int) -> Enclosure:
    return exp_enclosure(-1 / scale, bits)


def variance(scale: Fraction) -> float:
    """Return the variance 2a/(1-a)², for display and estimates; the paper's 2b²."""
    half = float(1 / scale) / 2
    # a/(1-a)² = 1/(4 sinh²(1/2b)), which does not cancel for wide noise.
    return 0.0 if half > 300 else 1 / (2 * sinh(half) ** 2)
