"""Estimated probabilities with their variances, for every cell and every query."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.estimation.drift import Drift
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.poisoning import Disagreement
from blender_dp.core.head_list.cells import FloatArray, IntArray

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """p̂ and σ̂² of many items; NaN where there is no estimate."""

    probability: FloatArray
    variance: FloatArray

    @property
    def std_error(self) -> FloatArray:
        """The square root of the variance; NaN if that is negative (flaw F1)."""
        return np.sqrt(np.where(self.variance >= 0, self.variance, np.nan))

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Return the normal 95 % interval around p̂, cut to what a probability can be."""
        reach = Z * self.std_error
        return np.clip(self.probability - reach, 0, 1), np.clip(self.probability + reach, 0, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupEstimates:
    """Estimates of one group of users (the paper's p̂_O, σ̂²_O or p̂_C, σ̂²_C)."""

    cells: Estimate
    queries: Estimate
    counts: IntArray
    """The released integers behind the estimates: noisy counts or report counts, by cell."""
    total: int
    """Divisor of the counts: users times records per user, or the lattice units of all users."""
    evidence: OptInViews | ClientViews | None = None
    """Input of the ``sharp`` blend; None in ``paper``, which blends the estimates."""
    tally: OptInTally | None = None
    """All released integers of the opt-in users in ``sharp``; in ``paper`` they are ``counts``."""

    def with_relayed(self, relayed: "GroupEstimates") -> "GroupEstimates":
        """Return the local clients' estimates with what relay clients say beside it."""
        local, other = self.evidence, relayed.evidence
        if not isinstance(local, ClientViews) or not isinstance(other, ClientViews):
            raise BrokenInvariantError("only the sharp blend takes relay clients")
        return replace(self, evidence=replace(local, relayed=other.records))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blend:
    """One level of the blended result: cells or queries."""

    raw: Estimate
    """The weighted mean of the groups."""
    projected: FloatArray
    """The weighted mean projected onto the simplex: no negative numbers, a sum of one."""
    opt_in_weight: FloatArray
    """w, the weight of the opt-in estimate."""
    bounds: tuple[FloatArray, FloatArray] | None = None
    """95 % interval that is better than the normal one around the raw estimate, if there is one."""
    groups: tuple[Estimate, Estimate] | None = None
    """Estimates of opt-in users alone and of local clients alone, if the blend has better ones."""
    relayed: Estimate | None = None
    """Estimates of relay clients alone, if there are any."""
    relay_weight: FloatArray | None = None
    """Weight of the relay clients' estimate."""
    all_clients: Estimate | None = None
    """Estimates of local and relay clients together, if there are relay clients."""

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Return the 95 % interval of every item."""
        return self.bounds or self.raw.interval()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlendedEstimates:
    """Estimates of all groups together (the paper's p̂)."""

    cells: Blend
    queries: Blend
    drift: Drift | None = None
    """Whether opt-in users and clients differ; None if they were not compared."""
    relay_drift: Drift | None = None
    """Whether relay clients and local clients differ; None if they were not compared."""
    disagreement: Disagreement | None = None
    """Whether the groups differ in a single record or query; None if they were not compared."""
