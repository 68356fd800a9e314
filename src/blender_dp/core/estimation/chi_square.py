"""The chi-square law with a whole number of degrees of freedom: its tail, and a test's power.

For whole degrees the tail is a finite sum of positive terms (Abramowitz and Stegun, Handbook of
Mathematical Functions, 26.4.4 and 26.4.5), so that nothing has to converge.
"""

from collections.abc import Callable
from functools import cache
from math import erfc, exp, lgamma, log, sqrt

import numpy as np

from blender_dp.core.head_list.cells import FloatArray

_HALVINGS = 100
"""More halvings than a float has bits, so bisection reaches full precision."""


def survival(statistic: float, degrees: int) -> float:
    """Return the probability of a larger value than ``statistic``.

    >>> round(survival(3.841458820694124, degrees=1), 12)
    0.05
    >>> survival(7.0, degrees=0)
    1.0
    """
    if degrees == 0 or statistic <= 0:
        return 1.0
    return min(1.0, float(_survivals(statistic, degrees)[-1]))


def _survivals(statistic: float, degrees: int) -> FloatArray:
    """Return the tails of ``degrees`` and of every smaller number of the same parity, rising."""
    half = statistic / 2
    if degrees % 2:
        tail, least = erfc(sqrt(half)), 0.5
    else:
        tail, least = exp(-half), 1.0
    i = least + np.arange((degrees - 1) // 2)
    log_gamma = lgamma(least) + np.cumsum(np.log(i))  # of i + 1
    return np.cumsum(np.append(tail, np.exp(i * log(half) - half - log_gamma)))


@cache
def noncentrality(degrees: int, *, level: float = 0.05, power: float = 0.8) -> float:
    """Return the noncentrality at which a test has this power.

    The sum of squares of independent normal variables of variance one is noncentral chi-square. The
    noncentrality is the sum of their squared means.
    """
    critical = _rising_root(lambda x: level - survival(x, degrees))
    return _rising_root(lambda shift: _noncentral_survival(critical, degrees, shift) - power)


def _noncentral_survival(statistic: float, degrees: int, shift: float) -> float:
    """Return the tail of the noncentral law: a Poisson mixture of central ones (26.4.25)."""
    mean = shift / 2
    last = int(mean + 10 * sqrt(mean)) + 40  # the rest is less than 1e-15 of the mixture
    log_factorial = np.append(0.0, np.cumsum(np.log(np.arange(1, last + 1))))
    j = np.arange(last + 1)
    weights = np.exp(j * log(mean) - mean - log_factorial)
    return float(weights @ _survivals(statistic, degrees + 2 * last)[-last - 1 :])


def _rising_root(rising: Callable[[float], float]) -> float:
    """Return where a continuous rising function of a positive number crosses zero."""
    low, high = 0.0, 1.0
    while rising(high) < 0:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) >= 0 else (middle, high)
    return high
