"""Posterior means of rare records, against slow sums and against draws from the prior itself."""

from dataclasses import replace

import numpy as np
import pytest
from core.sharp_cases import TwoSlopes, draw_release, falling
from scipy.special import logsumexp
from scipy.stats import laplace, multivariate_normal, norm, poisson

from blender_dp.core.blend_probabilities.popularity_prior import PopularityPrior
from blender_dp.core.blend_probabilities.rare_records import RareRecords, rare_records
from blender_dp.core.curator.budget import Branch
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.whole_list import WholeList
from blender_dp.core.head_list.cells import Cells, FloatArray

PRIOR = 1.75
GRID: FloatArray = np.exp(np.linspace(np.log(0.04), np.log(4.5), 91))


def views_of(
    values: FloatArray,
    sums: FloatArray,
    *,
    epsilon: float,
    branch: Branch = "laplace",
    concentration: float = 1.0,
) -> OptInViews:
    """One query a record; D as released, its noise's mean still in it."""
    cells = Cells.of([1] * len(values))
    release = draw_release(
        cells, falling(cells), np.random.default_rng(0), epsilon=epsilon, branch=branch
    )
    d, e = np.full(cells.cell_count, np.nan), np.zeros(cells.cell_count)
    d[cells.listed], e[cells.listed] = values - release.value_mean, sums
    constants = WholeList(
        record_concentration=concentration,
        query_concentration=concentration,
        value_ratio=1.0,
        ratio_variance=0.0 if branch == "laplace" else 0.03,
    )
    release = replace(release, values=d, sums=e, threshold=1e6, trimmed_from=constants)
    return release.among(10**6)


def posterior(views: OptInViews) -> RareRecords:
    return rare_records(views, PopularityPrior.of(views, PRIOR))


def moments(mu: FloatArray, log_likelihood: FloatArray) -> tuple[float, float]:
    weight = np.exp(log_likelihood - log_likelihood.max()) * mu ** (1 - PRIOR)
    mean = float((weight * mu).sum() / weight.sum())
    return mean, float((weight * (mu - mean) ** 2).sum() / weight.sum())


def slow_laplace(views: OptInViews, cell: int) -> tuple[float, float]:
    """Sum over every count with SciPy's laws, all of the noise's range, in logarithms."""
    release, conc = views, views.whole_list.record_concentration
    assert release.slopes is not None
    right, left = release.slopes
    value, e, noise = release.values[cell], release.sums[cell], release.sum_variance[cell]
    counts = np.arange(0, value + release.value_mean + 40 / left + 1)
    y = value + release.value_mean - counts
    log_d = np.where(y >= 0, -right * y, left * y)
    mu = max(value, 1.0) * GRID[:, None]
    if conc == 1:
        log_e = laplace.logpdf(e, counts, np.sqrt(noise / 2))
    else:
        deviation = np.sqrt(conc * (1 - conc) * mu + noise)
        log_e = norm.logpdf(e, mu + conc * (counts - mu), deviation)
    log_likelihood = logsumexp(poisson.logpmf(counts, mu) + log_d + log_e, axis=1)
    return moments(mu[:, 0], log_likelihood)


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("concentration", [1.0, 0.4])
def test_the_laplace_posterior_is_the_slow_sum(epsilon: float, concentration: float) -> None:
    """But for noise of probability e^-8 and less, which is left out."""
    values = np.array([0.0, 3.0, 20.0, 20.0, 90.0, 400.0])
    sums = np.array([2.0, 5.0, 22.0, 0.0, 70.0, 420.0])
    views = views_of(values, sums, epsilon=epsilon, concentration=concentration)
    rare = posterior(views)
    assert rare.cells.tolist() == views.cells.listed.tolist()
    slow = np.array([slow_laplace(views, cell) for cell in rare.cells])
    assert rare.mean == pytest.approx(slow[:, 0], rel=0.01)
    assert rare.variance == pytest.approx(slow[:, 1], rel=0.05)


@pytest.mark.parametrize("ratio", [1.0, 2.5])
@pytest.mark.parametrize("users", [20_000, 10**6])
def test_the_gauss_posterior_is_that_of_a_bivariate_normal(ratio: float, users: int) -> None:
    """D varies by μ over the squared ratio, but for the part of users who opted in."""
    values, sums = np.array([9.0, 30.0, 30.0, 200.0]), np.array([9.0, 10.0, 60.0, 150.0])
    views = views_of(values * ratio, sums, epsilon=1.0, branch="gauss", concentration=0.4)
    assert views.trimmed_from is not None
    constants = replace(views.trimmed_from, value_ratio=ratio)
    views = replace(views, trimmed_from=constants).among(users)
    rare = posterior(views)
    sampled = 1 - views.users / users
    for i, cell in enumerate(rare.cells):
        d = views.scaled_values[cell]  # on the scale of the sums
        grid = d * GRID
        own_d, own_e = views.scaled_variance[cell], views.sum_variance[cell]
        of_d = min((d / views.values[cell]) ** 2, 0.4)
        both = sampled * np.sqrt(0.4 * of_d) + (1 - sampled) * 0.4
        of_d = sampled * of_d + (1 - sampled) * 0.4
        log_likelihood = [
            multivariate_normal.logpdf(
                [d, sums[i]],
                [mu, mu],
                [[of_d * mu + own_d + 0.03 * mu**2, both * mu], [both * mu, 0.4 * mu + own_e]],
            )
            for mu in grid
        ]
        expected = moments(grid, np.array(log_likelihood))
        assert (rare.mean[i], rare.variance[i]) == pytest.approx(expected, rel=1e-9)


def test_only_records_near_the_threshold_are_rare() -> None:
    """D below five thresholds, or below 40·conc: where the sample is still skewed."""
    values = np.array([10.0, 49.0, 51.0])
    views = views_of(values, values, epsilon=10.0, branch="gauss")
    listed = views.cells.listed
    assert posterior(replace(views, threshold=2.0)).cells.tolist() == [listed[0]]
    assert posterior(replace(views, threshold=10.0)).cells.tolist() == [*listed[:2]]


def test_two_looks_that_contradict_each_other_leave_a_finite_answer() -> None:
    """E is hundreds of standard errors off: no run brings this, and no row may underflow."""
    branches: list[Branch] = ["laplace", "gauss"]
    for branch in branches:
        for concentration in (1.0, 0.3):
            views = views_of(
                np.array([30.0, 30.0]),
                np.array([1e5, -1e5]),
                epsilon=10.0,
                branch=branch,
                concentration=concentration,
            )
            rare = posterior(views)
            assert np.isfinite(rare.mean).all()
            assert (rare.variance >= 0).all()
            assert (rare.mean > 1).all()


def test_many_equal_records_are_cut_into_blocks_without_a_trace() -> None:
    sums = np.linspace(-20, 60, 400)
    many = posterior(views_of(np.full(400, 20.0), sums, epsilon=0.5, concentration=0.4))
    for i in (0, 17, 399):
        alone = posterior(views_of(np.array([20.0]), sums[[i]], epsilon=0.5, concentration=0.4))
        assert many.mean[i] == pytest.approx(alone.mean[0], rel=1e-12)
        assert many.variance[i] == pytest.approx(alone.variance[0], rel=1e-12)


class Discovered:
    """Records drawn from the prior, one record per user, and listed if D passes the threshold."""

    def __init__(self, epsilon: float, least: int) -> None:
        rng = np.random.default_rng(5)
        noise = TwoSlopes(right=0.7 * epsilon, left=0.15 * epsilon)
        y, law = noise.law
        mu = 1.0 * (1 - rng.random(60_000)) ** (-1 / (PRIOR - 1))  # density μ^(-a) above 1
        mu = mu[mu < 1000]
        counts = rng.poisson(mu)
        values = counts + rng.choice(y, len(mu), p=law)
        sums = counts + rng.laplace(0, 2 / (0.15 * epsilon), len(mu))
        listed = (values >= least) & (counts > 0) & (values < 6 * least)
        self.mu, self.values, self.sums = mu[listed], values[listed], sums[listed]
        self.centred = self.values - noise.mean
        views = views_of(self.values, self.sums, epsilon=epsilon)
        self.rare = posterior(views)


@pytest.mark.parametrize(("epsilon", "least"), [(0.5, 40), (2.0, 10), (4.0, 5)])
def test_posterior_means_are_right_on_average_although_records_were_selected(
    epsilon: float, least: int
) -> None:
    """On a fixed draw of some thousand listed records, in total and in the rarer half."""
    drawn = Discovered(epsilon, least)
    error = (drawn.rare.mean - drawn.mu) / np.sqrt(drawn.rare.variance)
    assert len(error) > 500
    assert abs(error.mean()) < 0.06
    assert np.mean(error**2) == pytest.approx(1, abs=0.12)
    rarer = drawn.values <= np.median(drawn.values)
    assert drawn.rare.mean[rarer].sum() == pytest.approx(drawn.mu[rarer].sum(), rel=0.05)


@pytest.mark.parametrize(("epsilon", "least"), [(0.5, 40), (2.0, 10), (4.0, 5)])
def test_the_released_values_themselves_are_too_large(epsilon: float, least: int) -> None:
    """The twin: without the prior the rarer half is further off than the test above allows."""
    drawn = Discovered(epsilon, least)
    rarer = drawn.values <= np.median(drawn.values)
    assert drawn.centred[rarer].sum() > 1.06 * drawn.mu[rarer].sum()
