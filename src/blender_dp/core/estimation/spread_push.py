"""Test for many records that are manipulated a little: their evidence added up.

The truncated product of p-values (Zaykin, Zhivotovsky, Westfall and Weir, "Truncated product method
for combining P-values", 2002): only p-values up to τ count, so that the hundreds of records
without a push add little. With n independent p-values the number of small ones is binomial, and
minus the sum of their logarithms over τ follows a gamma law: the tail is a finite sum.
"""

from functools import cache, lru_cache
from math import exp, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np

from blender_dp.core.estimation.chi_square import survival
from blender_dp.core.head_list.cells import FloatArray

TRUNCATION = 0.05
"""τ."""
_HALVINGS = 60
_POINTS = 8000
_NEGLIGIBLE = 1e-18


def evidence(p_values: FloatArray) -> float:
    """Return minus the sum of the logarithms of the small p-values."""
    small = p_values[p_values <= TRUNCATION]
    return float(-np.log(np.maximum(small, 1e-300)).sum())


def chance_of(found: float, count: int) -> float:
    """Return the probability that ``count`` independent p-values give as much evidence by chance.

    >>> chance_of(0.0, 10)
    1.0
    >>> round(chance_of(-log(TRUNCATION), 1), 9)
    0.05
    """
    if found <= 0:
        return 1.0
    chance = sum(
        weight * _gamma_tail(found + small * log(TRUNCATION), small)
        for small, weight in _numbers_of_small(count)
    )
    return min(chance, 1.0)


@lru_cache(maxsize=8)
def _numbers_of_small(count: int) -> list[tuple[int, float]]:
    """Return the probability of each number of small p-values by chance; tiny ones are left out."""
    numbers = []
    for small in range(1, count + 1):
        ways = lgamma(count + 1) - lgamma(small + 1) - lgamma(count - small + 1)
        weight = exp(ways + small * log(TRUNCATION) + (count - small) * log1p(-TRUNCATION))
        if weight > _NEGLIGIBLE:
            numbers.append((small, weight))
        elif small > count * TRUNCATION:
            break
    return numbers


def least_shift(count: int, pushed: int, level: float, power: float) -> float:
    """Return the smallest push, in standard errors, that is detected with the given power.

    The evidence is taken as normal under a push; its mean and variance are integrals over the
    normal law.

    Args:
        count: Number of records that are compared.
        pushed: Number of them that are pushed equally.
        level: Probability of a false alarm.
        power: Probability of an alarm under the push.
    """
    pushed = min(pushed, count)
    needed = _least_evidence(count, level)
    quantile = NormalDist().inv_cdf(power)
    mean_0, variance_0 = _moments(0.0)
    low, high = 0.0, 40.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        mean, variance = _moments(middle)
        expected = (count - pushed) * mean_0 + pushed * mean
        deviation = sqrt((count - pushed) * variance_0 + pushed * variance)
        if expected - quantile * deviation < needed:
            low = middle
        else:
            high = middle
    return high


def _least_evidence(count: int, level: float) -> float:
    low, high = 0.0, 200.0 + count
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if chance_of(middle, count) > level else (low, middle)
    return high


def _moments(shift: float) -> tuple[float, float]:
    """Return mean and variance of one record's evidence when its z-score is shifted.

    A p-value has the density e^(shift·z - shift²/2) then; its logarithm has p times that.
    """
    p, z, step = _grid()
    density = np.exp(shift * z - shift**2 / 2) * p
    density[[0, -1]] /= 2  # the trapezoidal rule
    worth = -np.log(p)
    mean = float((density * worth).sum() * step)
    return mean, float((density * worth**2).sum() * step) - mean**2


@cache
def _grid() -> tuple[FloatArray, FloatArray, float]:
    """Return p-values up to τ, evenly by their logarithm, with their z-scores and the step."""
    logs = np.linspace(-200.0, log(TRUNCATION), _POINTS)
    return np.exp(logs), np.array([_z_score(value) for value in logs]), float(logs[1] - logs[0])


def _z_score(log_p: float) -> float:
    """Return the z with upper tail p; for tiny p by iterating z² = -2·ln(p·z·√(2π))."""
    if log_p > -30:
        return -NormalDist().inv_cdf(exp(log_p))
    z = sqrt(-2 * log_p)
    for _ in range(30):
        z = sqrt(-2 * (log_p + log(z) + 0.5 * log(2 * pi)))
    return z


def _gamma_tail(x: float, shape: int) -> float:
    """Return Pr[Gamma(shape) ≥ x] for a whole shape: half of a chi-square with twice as many."""
    return survival(2 * x, 2 * shape)
