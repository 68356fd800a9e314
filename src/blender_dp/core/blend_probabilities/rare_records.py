"""The rarest listed records: posterior mean and variance instead of a plain average.

A record near the threshold is on the list partly because its noise was large, so its numbers are
too large on average. The selection is a function of the released D and adds no information. So the
likelihood of D and E and a prior for μ = n_O·p suffice
(:mod:`~blender_dp.core.blend_probabilities.popularity_prior`). The posterior is computed on a grid
of 91 values of μ around D.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from blender_dp.core.blend_probabilities.popularity_prior import PopularityPrior
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import FloatArray, IntArray

_GRID: FloatArray = np.geomspace(0.04, 4.5, 91)
_SHARES_ARE_COUNTS = 0.999
"""From this concentration on, E and D without noise are the same count of users."""
_UNDERFLOW = -700.0
_BLOCK = 1 << 17
"""Numbers held at once: about a megabyte, which fits the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RareRecords:
    """The listed records with small D, with posterior mean and variance, in users."""

    cells: IntArray
    mean: FloatArray
    variance: FloatArray


def rare_records(views: OptInViews, prior: PopularityPrior) -> RareRecords:
    """Return the posterior of the listed records with D < max(5τ, 40·concentration).

    For larger D the posterior is close to its normal approximation. A record without a prior has
    none.
    """
    concentration = views.whole_list.record_concentration
    small = views.scaled_values < max(5 * views.scaled_threshold, 40 * concentration)
    cells = np.flatnonzero(views.cells.is_discovered & small & ~prior.has_none)
    # The D of a known record may be far below the threshold, and its μ near it.
    least = np.where(prior.is_known[cells], views.scaled_threshold, 1.0)
    mu = np.maximum(views.scaled_values[cells], least)[:, None] * _GRID
    likelihood = _log_laplace if views.branch == "laplace" else _log_gauss
    # On a grid of equal ratios dμ is proportional to μ.
    log_posterior = likelihood(views, cells, mu) + prior.log_density(cells, mu)
    weight = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = (weight * mu).sum(axis=1)
    variance = (weight * (mu - mean[:, None]) ** 2).sum(axis=1)
    return RareRecords(cells=cells, mean=mean, variance=variance)


def _log_gauss(views: OptInViews, cells: IntArray, mu: FloatArray) -> FloatArray:
    """Return ln Pr[D, E | μ], bivariate normal: samples of the same users, and separate errors."""
    of_values, of_both = (over_mu[cells, None] * mu for over_mu in views.value_sampling())
    own_d = views.scaled_variance[cells, None] + views.whole_list.ratio_variance * mu**2
    of_d = of_values + own_d
    of_e = views.whole_list.record_concentration * mu + views.sum_variance[cells, None]
    d, e = views.scaled_values[cells, None] - mu, views.sums[cells, None] - mu
    determinant = of_d * of_e - of_both**2
    square = (of_e * d**2 + of_d * e**2 - 2 * of_both * d * e) / determinant
    return -0.5 * (np.log(determinant) + square)


def _log_laplace(views: OptInViews, cells: IntArray, mu: FloatArray) -> FloatArray:
    """Return ln Pr[D, E | μ], summed over the count S of users that D hides.

    S is Poisson(μ), D is S and noise with two slopes. E is S and Laplace noise if shares are
    counts, otherwise normal around μ + c·(S - μ), c the concentration. Close to the threshold
    neither is approximately normal: most of the variance of D's noise comes from its long left
    tail.
    """
    log_likelihood = np.empty(mu.shape)
    released = np.rint(views.scaled_values[cells] + views.value_mean).astype(np.int64)
    for value in np.unique(released):  # records with equal D share all but E
        same = np.flatnonzero(released == value)
        counts, log_d = _counts_behind(int(value), views, mu[same[0]])
        # The largest term of every row is taken out before exp: no row is lost to underflow.
        row = log_d.max(axis=1)
        d = np.exp(log_d - row[:, None])
        if views.whole_list.record_concentration > _SHARES_ARE_COUNTS:
            given_e = _sum_over_counts(d, counts, views, cells[same])
        else:
            given_e = _sum_over_shares(d, counts, views, cells[same], mu[same[0]])
        log_likelihood[same] = row + np.log(given_e)
    return log_likelihood


def _counts_behind(value: int, views: OptInViews, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the counts S that may have led to this D, and ln Pr[S, D | μ] by μ and S.

    Constants are left out, and so is noise of probability e^-8 or less.
    """
    if views.slopes is None:
        raise BrokenInvariantError("the noise of the laplace branch has two slopes")
    right, left = views.slopes
    least = max(value - ceil(12 / right) - 1, 0)
    counts = np.arange(least, value + ceil(8 / left) + 1)
    noise = value - counts
    log_noise = np.where(noise >= 0, -right * noise, left * noise)
    log_factorial = np.append(0.0, np.cumsum(np.log(np.arange(1, counts[-1] + 1))))[counts]
    log_poisson = counts * np.log(mu)[:, None] - mu[:, None]
    return counts.astype(np.float64), log_poisson + (log_noise - log_factorial)


def _sum_over_counts(
    d: FloatArray, counts: FloatArray, views: OptInViews, cells: IntArray
) -> FloatArray:
    """Return Σ_S d(μ, S)·Laplace(E - S), by record and μ, up to a factor per record."""
    e, noise = views.sums[cells], views.sum_variance[cells]
    distance = np.abs(e[:, None] - counts)
    further = distance - distance.min(axis=1, keepdims=True)
    laplace = np.exp(np.maximum(-further / np.sqrt(noise / 2)[:, None], _UNDERFLOW))
    given_e: FloatArray = laplace @ d.T
    return given_e


def _sum_over_shares(
    d: FloatArray, counts: FloatArray, views: OptInViews, cells: IntArray, mu: FloatArray
) -> FloatArray:
    """Return Σ_S d(μ, S)·Normal(E; μ + c·(S - μ), c(1 - c)μ + noise), by record and μ."""
    concentration = views.whole_list.record_concentration
    result = np.empty((len(cells), len(mu)))
    for block in _blocks(len(cells), d.size):
        e, noise = views.sums[cells[block]], views.sum_variance[cells[block]]
        variance = concentration * (1 - concentration) * mu + noise[:, None]
        scale = np.sqrt(0.5 / variance)
        centred = (e[:, None] - (1 - concentration) * mu) * scale
        normal = centred[:, :, None] - (concentration * scale)[:, :, None] * counts
        np.negative(np.square(normal, out=normal), out=normal)
        np.exp(np.maximum(normal, _UNDERFLOW, out=normal), out=normal)
        result[block] = np.einsum("igs,gs->ig", normal, d) * scale
    return result


def _blocks(records: int, size: int) -> Iterator[slice]:
    """Divide the records into blocks whose tables fit the processor's cache."""
    step = max(_BLOCK // size, 1)
    return (slice(first, first + step) for first in range(0, records, step))
