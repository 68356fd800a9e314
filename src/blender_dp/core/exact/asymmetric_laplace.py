"""The asymmetric discrete Laplace law, a slope on either side of zero; exact draws from it.

Pr[Y = y] = Z·e^(-sR·y) for y ≥ 0 and Z·e^(sL·y) below. With A = e^-sR and B = e^-sL it is the
law of the difference of two independent geometric numbers, of ratios A and B, and
Z = (1-A)(1-B)/(1-AB). Hiding a user who moves a unit from one count to another costs sR + sL,
however the sum is divided. If only counts above a threshold are released, a steep right slope keeps
rare records below it, and its cost is saved on the left.

No function here takes or makes a float on its way to a draw.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, sinh

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.binomial import binomial
from blender_dp.core.exact.enclosure import Enclosure, decay_enclosure
from blender_dp.core.exact.exponential_coins import geometric
from blender_dp.core.exact.randomness import Randomness

_GUARD_BITS = 64
"""Working bits beyond the requested ones, enough for a power of at most 2^40."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsymmetricLaplace:
    """Noise that falls by e^-right per count above zero and by e^-left per count below."""

    right: Fraction
    """sR."""
    left: Fraction
    """sL."""

    def __post_init__(self) -> None:
        for slope in (self.right, self.left):
            if not isinstance(slope, Fraction) or slope <= 0:
                raise BrokenInvariantError("a slope of exact noise is a positive fraction")

    def tail(self, y: int, bits: int) -> Enclosure:
        """Enclose Pr[Y ≥ y]: A^y·(1-B)/(1-AB) for y ≥ 1, 1 - B^(1-y)·(1-A)/(1-AB) below."""
        # 1-B and 1-AB are no smaller than about a slope, so a gentle slope needs more bits.
        bits += _GUARD_BITS + 2 * int(1 / min(self.right, self.left)).bit_length()
        a, b = decay_enclosure(self.right, bits), decay_enclosure(self.left, bits)
        rest = decay_enclosure(self.right + self.left, bits).complement()
        if y > 0:
            return a.power(y).times(b.complement()).over(rest)
        return b.power(1 - y).times(a.complement()).over(rest).complement()

    def draw_at_least(self, y: int, randomness: Randomness) -> int:
        """Draw Y exactly, given that Y ≥ y.

        From zero upwards the distribution has no memory: Y - y is geometric again. For
        y < 0 a coin decides the side, Pr[Y ≥ 0 | Y ≥ y] for the right one. On the left,
        -1-Y is geometric given that it is below -y; the remainder of a geometric number
        modulo -y has that law, because whole multiples of -y do not depend on the remainder.

        Args:
            y: The least value; a draw costs the same however far below zero it is.
            randomness: Source of random bits.
        """
        if y >= 0:
            return y + geometric(self.right, randomness)

        def is_right(bits: int) -> Enclosure:
            return self.tail(0, bits).over(self.tail(y, bits))

        if binomial(1, is_right, randomness):
            return geometric(self.right, randomness)
        return -1 - geometric(self.left, randomness) % -y

    def draw(self, randomness: Randomness) -> int:
        """Draw Y exactly: the difference of two geometric numbers."""
        return geometric(self.right, randomness) - geometric(self.left, randomness)

    @property
    def mean(self) -> float:
        """E[Y] = A/(1-A) - B/(1-B), for display and estimates; negative if sR > sL."""
        # (A-B)/((1-A)(1-B)), the larger of A and B taken out, so that nothing cancels.
        right, left, excess = float(self.right), float(self.left), float(self.left - self.right)
        difference = exp(-min(right, left)) * expm1(-abs(excess))
        denominator = expm1(-right) * expm1(-left)
        return (-difference if excess > 0 else difference) / denominator

    @property
    def variance(self) -> float:
        """A/(1-A)² + B/(1-B)², for display and estimates."""
        # a/(1-a)² = 1/(4 sinh²(s/2)), which does not cancel for gentle slopes.
        halves = (float(self.right) / 2, float(self.left) / 2)
        return sum(1 / (4 * sinh(half) ** 2) for half in halves if half < 300)
