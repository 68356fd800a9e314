"""Target of all estimates: the mean over the n users of the run, who form disjoint groups.

Let Σ be the covariance of one random user's shares. The mean of a group of n_g users, drawn
without replacement, differs from the target by errors of covariance Σ/n_g - Σ/n. The errors of two
groups have covariance -Σ/n. So all measurements have the covariance C = A - H(Σ/n)Hᵀ: H maps the
target to what is measured, and A is the covariance if groups were independent samples of a wider
population. Weighted least squares gives the same estimate with A as with C. Its covariance is
(HᵀA⁻¹H)⁻¹ - Σ/n with C. The proof is in docs/explanation/sharp-estimates.md.

So groups are weighed by A, as independent samples, and Σ/n is subtracted at the end.
"""

import numpy as np

from blender_dp.core.head_list.cells import FloatArray

_LEAST_PART = 1e-6
"""At least this part of a variance is left, if the two are equal but for rounding."""


def target_variance(p: FloatArray, concentration: float, users: float) -> FloatArray:
    """Return the diagonal of Σ/n: how much the target itself would vary in a wider population.

    Args:
        p: Shares of the cells, or of the queries.
        concentration: c, by which E f² = c·p; never below p, because E f² ≥ (E f)².
        users: n, possibly infinite.
    """
    return p * (np.maximum(concentration, p) - p) / users


def around_target(variance: FloatArray, target: FloatArray) -> FloatArray:
    """Return the variance of an estimate around the target, from that by A and the target's own."""
    return np.maximum(variance - target, _LEAST_PART * variance)
