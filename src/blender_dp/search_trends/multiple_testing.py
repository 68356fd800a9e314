"""Multiple testing: normal quantiles and the procedure of Benjamini and Hochberg."""

import math
from statistics import NormalDist

import numpy as np

from blender_dp.core.head_list.cells import BoolArray, FloatArray


def critical_value(level: float) -> float:
    """Return the value that a standard normal variable exceeds with probability ``level``."""
    return -NormalDist().inv_cdf(level)


def upper_tail(z: float) -> float:
    """Return the probability that a standard normal variable exceeds ``z``."""
    return math.erfc(z / math.sqrt(2)) / 2  # 1 - Φ(z) would lose its digits


def benjamini_hochberg(p_values: FloatArray, rate: float) -> BoolArray:
    """Tell which null hypotheses are rejected.

    On average at most a share ``rate`` of the rejected hypotheses is true. This is proved for
    independent p-values (Benjamini and Hochberg, 1995) and for positively dependent ones
    (Benjamini and Yekutieli, 2001).
    """
    count = len(p_values)
    ordered = np.sort(p_values)
    passing = np.flatnonzero(ordered <= rate * np.arange(1, count + 1) / max(count, 1))
    if not len(passing):
        return np.zeros(count, dtype=np.bool_)
    rejected: BoolArray = p_values <= ordered[passing[-1]]
    return rejected
