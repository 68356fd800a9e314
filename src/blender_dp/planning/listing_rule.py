"""Listing rule: the probability that a record of a given popularity gets on a list."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from blender_dp.core.estimation.release import ReleasedDiscovery
from blender_dp.core.head_list.cells import FloatArray

_STEEPEST = 300.0
_FEW = 60.0
"""Up to this expected count the law of a count is summed exactly; above, it is normal."""
_COUNTS: FloatArray = np.arange(1.0, 200.0)
_LOG_FACTORIAL: FloatArray = np.cumsum(np.log(_COUNTS))
_NODES: FloatArray = np.array([NormalDist().inv_cdf((i + 0.5) / 64) for i in range(64)])
_DEVIATIONS: FloatArray = np.linspace(-12, 12, 9_601)
_NORMAL: FloatArray = np.array([NormalDist().cdf(z) for z in _DEVIATIONS.tolist()])
_GRID: FloatArray = np.geomspace(1e-4, 1e9, 2_601)
"""Expected numbers of users for which probabilities are computed; between them, interpolated."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListingRule:
    """Probabilities of being listed, by the expected number of users who give the record."""

    users: int
    """Number of users who find the list."""
    on_grid: FloatArray

    @classmethod
    def of(cls, discovery: ReleasedDiscovery) -> "ListingRule":
        """Compute the rule from its public constants."""
        if discovery.sigma is None:
            on_grid = _over_counts(_GRID, lambda count: _by_count(count, discovery))
        else:
            # A user with k records gives 1/√k to each. Users are taken to be alike: then √k is
            # the average weight of a user, and k times as many users hold a record as it has
            # shares. Mean and variance of the sum are then right for unlike users, too.
            weight = discovery.average_weight or 1.0
            on_grid = _over_counts(
                weight**2 * _GRID, lambda count: _by_weight(count / weight, discovery)
            )
        return cls(users=discovery.users, on_grid=np.maximum.accumulate(on_grid))

    def listed(self, probability: FloatArray) -> FloatArray:
        """Return the probability that a record of this probability is listed."""
        mu = np.maximum(self.users * probability, _GRID[0])
        return np.asarray(np.interp(np.log(mu), np.log(_GRID), self.on_grid))

    def reached(self, listed: float) -> float:
        """Return the least probability of a record that is listed with probability ``listed``."""
        place = int(np.searchsorted(self.on_grid, listed))
        return float(_GRID[min(place, len(_GRID) - 1)] / self.users)


def _over_counts(mean: FloatArray, passing: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return the probability of passing, over Poisson counts of at least 1, by their mean."""
    few = mean[mean <= _FEW]
    poisson = np.exp(_COUNTS * np.log(few)[:, None] - few[:, None] - _LOG_FACTORIAL)
    many = mean[len(few) :, None]
    normal = passing(many + np.sqrt(many) * _NODES).mean(axis=1)
    return np.concatenate([poisson @ passing(_COUNTS), normal])


def _by_count(count: FloatArray, discovery: ReleasedDiscovery) -> FloatArray:
    """Return Pr[count + Y ≥ T] for noise with two slopes."""
    right = min(discovery.right_slope or _STEEPEST, _STEEPEST)
    left = min(discovery.left_slope or _STEEPEST, _STEEPEST)
    up, down = 1 / -np.expm1(-right), 1 / np.expm1(left)
    needed = discovery.threshold - count
    above = up * np.exp(-right * np.maximum(needed, 0.0))
    below = (down + 1) * np.exp(left * (np.minimum(needed, 0.0) - 1))
    return np.asarray(np.where(needed >= 0, above, up + down - below) / (up + down))


def _by_weight(weight: FloatArray, discovery: ReleasedDiscovery) -> FloatArray:
    """Return Pr[weight + N > τ] for Gaussian noise."""
    z = (weight - discovery.threshold) / (discovery.sigma or 1.0)
    return np.interp(z, _DEVIATIONS, _NORMAL)
