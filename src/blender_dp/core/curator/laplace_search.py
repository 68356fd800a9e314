"""Search for the threshold and the slopes of noise that list the most records.

It uses floats: its result is public, depends on ε and δ only, and is checked by the proof in exact
arithmetic afterwards (:mod:`~blender_dp.core.curator.laplace_plan`). A wrong choice
could find fewer records; it could not make a release less private.
"""

from fractions import Fraction
from functools import cache
from math import ceil, expm1, floor, log
from typing import NamedTuple

import numpy as np

from blender_dp.core.head_list.cells import FloatArray

LEAST_SHARE, MOST_SHARE = 0.3, 0.99
"""Smallest and largest share of ε for the right slope."""
_COUNT_DENSITY = 2.1
"""Records of count c are assumed to be as frequent as c^-2.1, the shape of search logs."""
_CANDIDATES = 17
"""Thresholds compared at a time, before the search narrows to the neighbours of the best."""


class CandidateLaw(NamedTuple):
    """Noise of slopes share·ε and (1-share)·ε; noisy counts from ``threshold`` up are released."""

    epsilon: float
    threshold: int
    share: float

    @property
    def slopes(self) -> tuple[float, float]:
        """The slopes sR and sL."""
        return self.share * self.epsilon, (1 - self.share) * self.epsilon

    def passing(self, counts: FloatArray) -> FloatArray:
        """Return Pr[c + Y ≥ T] for each count."""
        right, left = self.slopes
        above, below = expm1(-left) / expm1(-self.epsilon), expm1(-right) / expm1(-self.epsilon)
        y = self.threshold - counts
        return np.where(
            y >= 0,
            above * np.exp(-right * np.maximum(y, 0)),
            1 - below * np.exp(-left * np.maximum(1 - y, 1)),
        )

    def half(self) -> float:
        """Return the count that passes with probability one half, linear between whole counts."""
        right, left = self.slopes
        above, below = expm1(-left) / expm1(-self.epsilon), expm1(-right) / expm1(-self.epsilon)
        if above >= 0.5:
            real = self.threshold - log(2 * above) / right
        else:
            real = self.threshold - 1 + log(2 * below) / left
        whole = max(ceil(real) - 1, 1)
        low, high = (float(p) for p in self.passing(np.array([whole, whole + 1.0])))
        return whole + min(max((0.5 - low) / (high - low), 0.0), 1.0)

    def score(self) -> float:
        """Return Σ c^-2.1·Pr[c + Y ≥ T] over all counts c ≥ 1, a measure of the records found."""
        counts, weights, beyond = _count_density()
        # From here on the left tail is below 1e-17: everything passes.
        end = int(np.searchsorted(counts, self.threshold + 40 / self.slopes[1]))
        passing = self.passing(counts[:end])
        return float(np.sum(passing * weights[:end]) + beyond[end])


@cache
def _count_density() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return counts, c^-2.1 of each, and the sum of that from each position on.

    Every count up to 1,000; then, up to ten thousand million, one count for the middle of
    each block that is a thousandth wide, with the weight of the whole block.
    """
    edges = np.append(np.arange(1.0, 1001.0), np.floor(1001 * 1.001 ** np.arange(16_000))) - 0.5
    weights = -np.diff(edges ** (1 - _COUNT_DENSITY)) / (_COUNT_DENSITY - 1)
    counts = (edges[:-1] + edges[1:]) / 2
    weights[:1000] = counts[:1000] ** -_COUNT_DENSITY
    beyond = edges[-1] ** (1 - _COUNT_DENSITY) / (_COUNT_DENSITY - 1)
    return counts, weights, np.append(np.cumsum(weights[::-1])[::-1], 0) + beyond


def best_candidate(epsilon: Fraction, delta: Fraction) -> CandidateLaw:
    """Return the threshold T ≥ 2 and its least right slope that find the most records."""
    log_delta = log(delta.numerator) - log(delta.denominator)
    low, high = thresholds(float(epsilon), log_delta)
    while True:
        spaced = {low + (high - low) * i // (_CANDIDATES - 1) for i in range(_CANDIDATES)}
        laws = [least_slope(float(epsilon), log_delta, t) for t in sorted(spaced)]
        best = int(np.argmax([law.score() for law in laws]))
        if len(laws) > high - low:
            return laws[best]
        # The score rises up to the best threshold and falls after it.
        low, high = laws[max(best - 1, 0)].threshold, laws[min(best + 1, len(laws) - 1)].threshold


def least_slope(epsilon: float, log_delta: float, threshold: int) -> CandidateLaw:
    """Return the law with the smallest share that is private at this threshold."""
    low, high = LEAST_SHARE, MOST_SHARE
    if _is_private(CandidateLaw(epsilon, threshold, low), log_delta):
        return CandidateLaw(epsilon, threshold, low)
    while low < (middle := (low + high) / 2) < high:
        if _is_private(CandidateLaw(epsilon, threshold, middle), log_delta):
            high = middle
        else:
            low = middle
    return CandidateLaw(epsilon, threshold, high)


def _is_private(law: CandidateLaw, log_delta: float) -> bool:
    """Tell whether Pr[1 + Y ≥ T] is at most δ."""
    right, left = law.slopes
    return log(expm1(-left) / expm1(-law.epsilon)) - right * (law.threshold - 1) <= log_delta


def thresholds(epsilon: float, log_delta: float) -> tuple[int, int]:
    """Return the least threshold with a private slope, and the last one worth trying.

    A steeper slope allows lower thresholds. Where the gentlest slope is private, a higher threshold
    with the same noise finds less.
    """

    def least(share: float) -> int:
        right, left = share * epsilon, (1 - share) * epsilon
        above = log(expm1(-left) / expm1(-epsilon))
        reach = max(2, floor(1 + (above - log_delta) / right))
        while not _is_private(CandidateLaw(epsilon, reach, share), log_delta):
            reach += 1
        return reach

    return least(MOST_SHARE), least(LEAST_SHARE)
