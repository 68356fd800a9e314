"""Estimated probabilities with their variances, for every cell and every query."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from blender_dp.core.cells import FloatArray, IntArray

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """p̂ and σ̂² of many items. Not a number where there is no estimate."""

    probability: FloatArray
    variance: FloatArray

    @property
    def std_error(self) -> FloatArray:
        """The square root of the variance; not a number where that is negative (flaw F1)."""
        return np.sqrt(np.where(self.variance >= 0, self.variance, np.nan))

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Return the normal 95 % interval around p̂, cut to what a probability can be."""
        reach = _Z * self.std_error
        return np.clip(self.probability - reach, 0, 1), np.clip(self.probability + reach, 0, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupEstimates:
    """What one group of users says (the paper's p̂_O, σ̂²_O or p̂_C, σ̂²_C)."""

    cells: Estimate
    queries: Estimate
    counts: IntArray
    """The released integers that the estimates divide: noisy counts or report counts, by cell."""
    total: int
    """What they are divided by: users times records a user."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blend:
    """One level of the blended result: cells or queries."""

    raw: Estimate
    """The weighted mean of the two groups."""
    projected: FloatArray
    """The same moved onto the simplex: no negative numbers, a sum of one."""
    opt_in_weight: FloatArray
    """w, the weight of the opt-in estimate."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlendedEstimates:
    """What both groups say together (the paper's p̂)."""

    cells: Blend
    queries: Blend
