"""The discrete Laplace law on the integers: its tail, and exact draws from it.

Pr[Y = y] = (1-a)/(1+a)·a^abs(y) with a = e^(-1/b) (reading R4). It replaces the paper's real-valued
Laplace noise of scale b on a count. Floating-point Laplace noise would
leave gaps that let a reader of a release tell count 0 from count 1 (Mironov, CCS 2012).

No function here takes or makes a float on its way to a draw.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sinh

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.enclosure import Enclosure, decay_enclosure
from blender_dp.core.exact.exponential_coins import geometric
from blender_dp.core.exact.randomness import Randomness

_GUARD_BITS = 64
"""Working bits beyond the requested ones, enough for a power of at most 2^40."""


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
        a = decay_enclosure(1 / self.scale, bits)
        one = 1 << bits
        return a, Enclosure(one + a.low, one + a.high, bits)

    def draw(self, randomness: Randomness) -> int:
        """Draw Y exactly.

        A geometric magnitude with a fair sign; zero must count once, so a negative zero is drawn
        again
        (Algorithm 2 of Canonne, Kamath and Steinke).
        """
        while True:
            magnitude = geometric(1 / self.scale, randomness)
            negative = randomness.bits(1)
            if not (negative and magnitude == 0):
                return -magnitude if negative else magnitude


def variance(scale: Fraction) -> float:
    """Return the variance 2a/(1-a)², for display and estimates; the paper's 2b²."""
    half = float(1 / scale) / 2
    # a/(1-a)² = 1/(4 sinh²(1/2b)), which does not cancel for wide noise.
    return 0.0 if half > 300 else 1 / (2 * sinh(half) ** 2)
