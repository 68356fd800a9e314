"""Medians of trials with exact intervals.

Medians, because a blend by the paper's weights has no finite variance: a negative variance estimate
puts a pole into the weight (flaw F1), so that a few trials are far off. The interval of a median
needs no assumption about the distribution of the trials.
"""

import math
from typing import NamedTuple

import numpy as np

from blender_dp.core.head_list.cells import FloatArray

CONFIDENCE = 0.95


class Median(NamedTuple):
    """Median of some trials with its interval; NaN without trials."""

    value: float
    low: float
    """Lower end of the interval; NaN with fewer than six trials, too few for 95 %."""
    high: float


def median_of(values: FloatArray, confidence: float = CONFIDENCE) -> Median:
    """Return the median of the values that are numbers, and its interval.

    The interval runs from the r-th smallest to the r-th largest value, for the largest r that
    keeps the confidence: the true median lies outside when fewer than r of n values fall on one
    side of it, which has probability 2·Pr[Binomial(n, ½) < r] at most.
    """
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return Median(math.nan, math.nan, math.nan)
    r = _interval_rank(len(known), confidence)
    low, high = (float(known[r - 1]), float(known[-r])) if r else (math.nan, math.nan)
    return Median(float(np.median(known)), low, high)


def _interval_rank(n: int, confidence: float = CONFIDENCE) -> int:
    """Return the largest r with 2·Pr[Binomial(n, ½) < r] ≤ 1 - confidence; 0 if there is none.

    >>> [_interval_rank(n) for n in (5, 6, 9, 100)]
    [0, 1, 2, 40]
    """
    tail, r = 0, 0
    while 2 * (tail + math.comb(n, r)) <= (1 - confidence) * 2**n:
        tail += math.comb(n, r)
        r += 1
    return r
