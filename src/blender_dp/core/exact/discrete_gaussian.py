"""The discrete Gaussian law on the integers: exact draws from it, and from its tail alone.

Pr[X = x] = e^(-x²/(2σ²))/Z with Z = Σ e^(-x²/(2σ²)) over all integers. It replaces the real-valued
normal noise of deviation σ of a proof; create_head_list/PRIVACY.md bounds the difference.

No function here takes or makes a float on its way to a draw.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.enclosure import Enclosure, exp_enclosure, pi_enclosure
from blender_dp.core.exact.exponential_coins import exp_coin, geometric
from blender_dp.core.exact.randomness import Randomness

_GUARD_BITS = 64


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Noise of deviation σ ≥ 1, in units of the lattice."""

    sigma: Fraction | int

    def __post_init__(self) -> None:
        if not isinstance(self.sigma, Fraction | int) or self.sigma < 1:
            raise BrokenInvariantError("the deviation of exact noise is a fraction, at least 1")

    def draw(self, randomness: Randomness) -> int:
        """Draw X exactly.

        Algorithm 3 of Canonne, Kamath and Steinke, "The discrete Gaussian for differential
        privacy" (NeurIPS 2020): a discrete Laplace draw Y of scale t = ⌊σ⌋ + 1 stands with
        probability e^(-(|Y| - σ²/t)²/(2σ²)), which it does three times in four.
        """
        laplace, p, q_t, denominator = _rejection(self.sigma)
        while True:
            y = laplace.draw(randomness)
            if exp_coin((abs(y) * q_t - p) ** 2, denominator, randomness):
                return y

    def candidate_probability(self, least: int, bits: int) -> Enclosure:
        """Enclose the probability that noise is a candidate for being ``least`` or more.

        For x ≥ t the identity x² = t² + 2t(x-t) + (x-t)² splits Pr[X = x] into
        (e^(-t²/2σ²)/Z)·e^(-(x-t)·t/σ²) times e^(-(x-t)²/2σ²). Without the last factor, which is
        at most 1, the sum over x ≥ t is q = e^(-t²/2σ²)/((1 - e^(-t/σ²))·Z), enclosed here. So X
        has the law of: be a candidate with probability q; a candidate is t + j with j geometric
        and stands with probability e^(-j²/2σ²); all else is noise below t.

        Args:
            least: t, no less than σ: then q is below 2/5, and about two candidates in three
                stand, or more.
            bits: Of the enclosure, or more.
        """
        if least < self.sigma:
            raise BrokenInvariantError("only a tail beyond one deviation is drawn alone")
        s2 = Fraction(self.sigma) ** 2
        # 1 - e^(-t/σ²) is about t/σ²: the extra bits keep its digits.
        work = bits + _GUARD_BITS + floor(s2 / least).bit_length()
        height = exp_enclosure(-(least**2) / (2 * s2), work)
        drop = exp_enclosure(-least / s2, work).complement()
        return height.over(drop.times(_total(self.sigma, work)))

    def draw_candidate(self, least: int, randomness: Randomness) -> int | None:
        """Draw the noise of a candidate, ``least`` or more; None if the candidate is rejected."""
        s2 = Fraction(self.sigma) ** 2
        j = geometric(least / s2, randomness)
        p, q = s2.as_integer_ratio()
        return least + j if exp_coin(j**2 * q, 2 * p, randomness) else None


@cache
def _rejection(sigma: Fraction | int) -> tuple[DiscreteLaplace, int, int, int]:
    """Return the law of Y and, for σ² = p/q, the integers p, q·t and 2·p·q·t².

    With them (|Y| - σ²/t)²/(2σ²) is (|Y|·qt - p)²/(2pqt²).
    """
    p, q = (sigma**2).as_integer_ratio()
    t = floor(sigma) + 1
    return DiscreteLaplace(Fraction(t)), p, q * t, 2 * p * q * t**2


@cache
def _total(sigma: Fraction | int, bits: int) -> Enclosure:
    """Enclose Z = σ√(2π)·(1 + 2·Σ_{j≥1} e^(-2π²σ²j²)), by Poisson summation.

    For σ ≥ 1 each term is less than half of the one before it. So the first term that vanishes in
    the enclosure and all later ones add up to at most twice its upper end.
    """
    pi = pi_enclosure(bits)
    low, high = pi.ends()
    around, j = Enclosure(1 << bits, 1 << bits, bits), 1
    while True:
        exponent = 2 * Fraction(sigma) ** 2 * j**2
        least = exp_enclosure(-exponent * high**2, bits).low
        most = exp_enclosure(-exponent * low**2, bits).high
        if not least:
            break
        around = Enclosure(around.low + 2 * least, around.high + 2 * most, bits)
        j += 1
    around = Enclosure(around.low, around.high + 4 * most, bits)
    two_pi = Enclosure(2 * pi.low, 2 * pi.high, bits)
    deviation = Enclosure.of(Fraction(sigma), Fraction(sigma), bits)
    return deviation.times(two_pi.root()).times(around)
