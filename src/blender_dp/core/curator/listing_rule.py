"""Listing rule: the probability that a record of a given popularity gets on a list."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from blender_dp.core.curator.value_law import ValueLaw
from blender_dp.core.estimation.release import ReleasedDiscovery
from blender_dp.core.head_list.cells import FloatArray

_STEEPEST = 300.0
_FEW = 60.0
"""Up to this expected count the law of a count is summed exactly; above, it is normal."""
_COUNTS: FloatArray = np.arange(1.0, 200.0)
_LOG_FACTORIAL: FloatArray = np.cumsum(np.log(_COUNTS))
_NODES: FloatArray = np.array([NormalDist().inv_cdf((i + 0.5) / 64) for i in range(64)])
_DEVIATIONS: FloatArray = np.linspace(-12, 12, 9_601)
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
        """Compute the rule from what a release says of discovery."""
        if discovery.sigma is None:
            slopes = discovery.right_slope or _STEEPEST, discovery.left_slope or _STEEPEST
            return cls.of_counts(discovery.users, discovery.threshold, slopes)
        weight = discovery.average_weight or 1.0
        return cls.of_weights(discovery.users, discovery.threshold, discovery.sigma, weight)

    @classmethod
    def of_law(cls, law: ValueLaw, *, users: int, average_weight: float) -> "ListingRule":
        """Compute the rule of values with this law; the weight is of no meaning for counts."""
        if law.slopes is None:
            return cls.of_weights(users, law.threshold, sqrt(law.variance), average_weight)
        return cls.of_counts(users, round(law.threshold + 0.5 + law.mean), law.slopes)

    @classmethod
    def of_counts(cls, users: int, threshold: float, slopes: tuple[float, float]) -> "ListingRule":
        """Compute the rule of counts with noise of two slopes; ``threshold`` is the least value."""
        on_grid = _over_counts(_GRID, lambda count: _by_count(count, threshold, slopes))
        return cls(users=users, on_grid=np.maximum.accumulate(on_grid))

    @classmethod
    def of_weights(
        cls, users: int, threshold: float, sigma: float, average_weight: float
    ) -> "ListingRule":
        """Compute the rule of sums of weights with Gaussian noise."""
        # A user with k records gives 1/√k to each. Users are taken to be alike: then √k is
        # the average weight of a user, and k times as many users hold a record as it has
        # shares. Mean and variance of the sum are then right for unlike users, too.
        on_grid = _over_counts(
            average_weight**2 * _GRID,
            lambda count: _by_weight((count / average_weight - threshold) / sigma),
        )
        return cls(users=users, on_grid=np.maximum.accumulate(on_grid))

    def listed(self, probability: FloatArray) -> FloatArray:
        """Return the probability that a record of this probability is listed."""
        return self.listed_at(self.users * probability)

    def listed_at(self, mu: FloatArray) -> FloatArray:
        """Return the same by the expected number of users who give the record."""
        mu = np.maximum(mu, _GRID[0])
        return np.asarray(np.interp(np.log(mu), np.log(_GRID), self.on_grid))

    def reached(self, listed: float) -> float:
        """Return the least probability of a record that is listed with probability ``listed``."""
        place = int(np.searchsorted(self.on_grid, listed))
        return float(_GRID[min(place, len(_GRID) - 1)] / self.users)

    @property
    def half_listed(self) -> float:
        """The probability of a record that is listed with probability one half."""
        return self.reached(0.5)


def half_listed(discovery: ReleasedDiscovery | None) -> float | None:
    """Return the probability of a record that a release listed with probability one half.

    None if that is not known, or if some of its records may be listed for another reason.
    """
    if discovery is None or discovery.known_elsewhere is not False:
        return None
    return ListingRule.of(discovery).half_listed


def _over_counts(mean: FloatArray, passing: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return the probability of passing, over Poisson counts of at least 1, by their mean."""
    few = mean[mean <= _FEW]
    poisson = np.exp(_COUNTS * np.log(few)[:, None] - few[:, None] - _LOG_FACTORIAL)
    many = mean[len(few) :, None]
    normal = passing(many + np.sqrt(many) * _NODES).mean(axis=1)
    return np.concatenate([poisson @ passing(_COUNTS), normal])


def _by_count(count: FloatArray, threshold: float, slopes: tuple[float, float]) -> FloatArray:
    """Return Pr[count + Y ≥ T] for noise with two slopes."""
    right, left = (min(slope, _STEEPEST) for slope in slopes)
    up, down = 1 / -np.expm1(-right), 1 / np.expm1(left)
    needed = threshold - count
    above = up * np.exp(-right * np.maximum(needed, 0.0))
    below = (down + 1) * np.exp(left * (np.minimum(needed, 0.0) - 1))
    return np.asarray(np.where(needed >= 0, above, up + down - below) / (up + down))


def _by_weight(deviations: FloatArray) -> FloatArray:
    """Return Pr[weight + N > τ] for Gaussian noise, by how far the weight is above τ."""
    return np.interp(deviations, _DEVIATIONS, _normal())


@cache  # cached: it takes longer to compute than to use
def _normal() -> FloatArray:
    """Return Pr[N ≤ z] at ``_DEVIATIONS``."""
    law = NormalDist()
    return np.array([law.cdf(z) for z in _DEVIATIONS.tolist()])
