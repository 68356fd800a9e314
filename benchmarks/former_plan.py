"""Plan of the Gaussian branch as it was until 2026-11-15, in floats, for comparison only.

Its δ is the sum of two worst cases that never meet: own records that are released, and the distance
of everything else.
"""

import math

import numpy as np
from scipy.stats import norm

from benchmarks.accuracy import DELTA

_SHARE, _MOST = 0.84, 32
_STEPS = 200


def former_plan(epsilon: float, delta: float = DELTA) -> tuple[float, float]:
    """Return σ₁ and τ, in users: the lowest τ over eight ways to divide δ."""
    k = np.arange(1, _MOST + 1)
    found = []
    for part in range(1, 9):
        own = delta * part / 10
        sigma = math.sqrt(2 / _SHARE) / _largest_mu(epsilon + math.log1p(-own), delta - own)
        thresholds = k**-0.5 + sigma * norm.isf(-np.expm1(np.log1p(-own) / k))
        found.append((float(thresholds.max()), sigma))
    tau, sigma = min(found)
    return sigma, tau


def _largest_mu(epsilon: float, delta: float) -> float:
    low, high = 1e-6, 50.0
    for _ in range(_STEPS):
        mu = (low + high) / 2
        needed = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(
            -mu / 2 - epsilon / mu
        )
        low, high = (mu, high) if needed <= delta else (low, mu)
    return low
