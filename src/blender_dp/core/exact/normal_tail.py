"""The tail of the normal law between two fractions, and the privacy of Gaussian noise from it.

Q(x) = Pr[N(0,1) ≥ x]. For large x, Q is tiny, and its relative precision matters: an enclosure here
has one more bit for each leading zero of Q. There are two ways to compute Q, for small and large x:

small   1/2 - φ(x)·(x + x³/3 + x⁵/(3·5) + x⁷/(3·5·7) + …), all terms positive (DLMF 7.6.2);
large   φ(x)/T_1 with T_j = x + j/T_{j+1} (Laplace's continued fraction).

The second needs no theorem on convergence. Let I_j = ∫_x^∞ (t-x)^j/j!·φ(t) dt and I_{-1} = φ(x).
Integration by parts gives j·I_j = I_{j-2} - x·I_{j-1} for j ≥ 1. So T_j = I_{j-2}/I_{j-1}
obeys the recurrence, T_1 = φ/Q, and as all of them are positive, x ≤ T_j ≤ x + j/x. Start there at
some j, go down to 1, round outwards: the result encloses T_1 wherever it was started.
"""

from fractions import Fraction
from math import ceil

from blender_dp.core.exact.enclosure import Enclosure, exp_enclosure, pi_enclosure

_GUARD_BITS = 32
_FAR = 4
"""From here on the continued fraction is faster."""
_FARTHEST = Fraction(64)
"""Beyond this, the tail is only bounded by its value here, which is below 1e-890."""


def normal_tail(x: Fraction, bits: int) -> Enclosure:
    """Enclose Q(x), with about ``bits`` binary digits after its leading zeros.

    Beyond 64 deviations the enclosure starts at 0.
    """
    if x < 0:
        return normal_tail(-x, bits).complement()
    if x > _FARTHEST:
        return normal_tail(_FARTHEST, bits)._replace(low=0)
    # Q(x) ≥ φ(x)·x/(1+x²): no more than x²/2·log2(e) + log2(x) + 3 zeros.
    zeros = ceil(x**2 * Fraction(3, 4)) + ceil(x).bit_length() + 3
    work = bits + zeros + _GUARD_BITS
    if x >= _FAR:
        return _density(x, work).over(_inverse_mills_ratio(x, bits).widened(work))
    middle = _density(x, work).times(_series(x, work))
    half = 1 << (work - 1)
    return Enclosure(half - middle.high, half - middle.low, work)


def gaussian_delta(mu: Fraction, epsilon: Fraction, bits: int = 128) -> Fraction:
    """Return δ(ε) = Q(ε/μ - μ/2) - e^ε·Q(ε/μ + μ/2), rounded up, for ε ≥ 0.

    Theorem 8 of Balle and Wang, "Improving the Gaussian mechanism for differential privacy"
    (ICML 2018): the smallest δ for which noise of σ = sensitivity/μ is (ε, δ)-private.
    """
    _, first = normal_tail(epsilon / mu - mu / 2, bits).ends()
    second, _ = normal_tail(epsilon / mu + mu / 2, bits).ends()
    _, inverse = exp_enclosure(-epsilon, bits + ceil(epsilon * 3 / 2)).ends()
    return first - second / inverse


def _density(x: Fraction, bits: int) -> Enclosure:
    """Enclose φ(x) = e^(-x²/2)/√(2π)."""
    pi = pi_enclosure(bits)
    return exp_enclosure(-(x**2) / 2, bits).over(Enclosure(2 * pi.low, 2 * pi.high, bits).root())


def _series(x: Fraction, bits: int) -> Enclosure:
    """Enclose x + x³/3 + x⁵/(3·5) + … for 0 ≤ x.

    Once a term is at most half of the one before it, all that follow add up to no more than it.
    """
    term, square = Enclosure.of(x, x, bits), Enclosure.of(x**2, x**2, bits)
    low, high, odd = term.low, term.high, 1
    while term.high > 1 or 2 * x**2 > odd + 2:
        odd += 2
        grown = term.times(square)
        term = Enclosure(grown.low // odd, -(-grown.high // odd), bits)
        low, high = low + term.low, high + term.high
    return Enclosure(low, high + term.high, bits)


def _inverse_mills_ratio(x: Fraction, bits: int) -> Enclosure:
    """Enclose T_1 = φ(x)/Q(x) for x ≥ 1, within 2^-bits of itself.

    After j steps the ends differ by about e^(-2x√j). So fewer than 0.12·(bits/x)² cannot be enough.
    """
    steps, too_few = 16, 3 * bits**2 / (25 * x**2)
    while steps < too_few:
        steps *= 2
    while True:
        ratio = _continued_fraction(x, steps, bits + _GUARD_BITS)
        if ratio.high - ratio.low <= ratio.low >> bits:
            return ratio
        steps *= 2


def _continued_fraction(x: Fraction, steps: int, bits: int) -> Enclosure:
    """Enclose T_1, started at j = ``steps`` with x ≤ T_j ≤ x + j/x."""
    at = Enclosure.of(x, x, bits)
    low, high = at.low, Enclosure.of(x, x + steps / x, bits).high
    for j in range(steps - 1, 0, -1):
        quotient = j << (2 * bits)
        low, high = at.low + quotient // high, at.high - (-quotient // low)
    return Enclosure(low, high, bits)
