"""The point of the probability simplex nearest to an estimate (Fig. 7 line 5)."""

import numpy as np

from blender_dp.core.head_list.cells import FloatArray


def project(v: FloatArray) -> FloatArray:
    """Return the nearest vector without negative entries that adds up to one.

    The algorithm of the paper's reference (Wang and Carreira-Perpiñán, 2013): subtract the one
    constant that leaves a sum of one after negative entries are set to zero.

    >>> project(np.array([0.6, 0.6, -0.2])).tolist()
    [0.5, 0.5, 0.0]
    """
    v = v - v.max()  # the nearest point is the same, and huge entries lose nothing that matters
    u = np.sort(v)[::-1]
    surplus = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    last_positive = np.flatnonzero(u > surplus)[-1]
    projected: FloatArray = np.maximum(v - surplus[last_positive], 0.0)
    return projected
