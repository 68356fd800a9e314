"""D and E as one estimate, and which queries are the largest."""

from dataclasses import replace

import numpy as np
import pytest
from core.sharp_cases import draw_release, falling

from blender_dp.core.curator.budget import Branch
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.whole_list import WholeList
from blender_dp.core.head_list.cells import Cells, FloatArray

CELLS = Cells.of([2, 1, 3, 1])
BRANCHES: list[tuple[Branch, bool]] = [("laplace", True), ("laplace", False), ("gauss", False)]


def release_of(branch: Branch, one_record_each: bool, seed: int = 0) -> OptInViews:
    return draw_release(
        CELLS,
        falling(CELLS),
        np.random.default_rng(seed),
        branch=branch,
        one_record_each=one_record_each,
    )


def joint_variances(views: OptInViews, mu: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derive Var D, Var E and their covariance from how users are drawn, by another way.

    Rare items of users of a wider population: a sum of shares varies by E f² of every user. D draws
    one record of each user (laplace): the count is Poisson, of which the sample of users is a part.
    Or D adds up 1/√k of users with k records (gauss), whose squares are shares. Of n users who all
    opted in, a sum has no error but that of its ratio; D and E then share all that the target has.
    """
    whole_list = views.whole_list
    users = whole_list.record_concentration * mu
    var_e = users + views.sum_variance
    if views.branch == "laplace":
        var_d = mu + views.scaled_variance
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(CELLS.is_listed, views.values / views.scaled_values, 1.0)
        of_d = np.minimum(mu / ratio**2, users)
        rest = 1 - views.users / views.all_users
        both = rest * np.sqrt(of_d * users) + (1 - rest) * users
        var_d = rest * of_d + (1 - rest) * users
        var_d += whole_list.ratio_variance * mu**2 + views.scaled_variance
        return var_d, var_e, both
    return var_d, var_e, users


@pytest.mark.parametrize(("branch", "one_record_each"), BRANCHES)
@pytest.mark.parametrize("users", [20_000, 25_000, 400_000])
def test_no_other_mix_of_the_two_looks_has_less_variance(
    branch: Branch, one_record_each: bool, users: int
) -> None:
    views = release_of(branch, one_record_each).among(users)
    mu = 20_000 * falling(CELLS)
    y, variance = views.combined(mu)
    var_d, var_e, cov = joint_variances(views, mu)
    listed = CELLS.is_listed
    mixes = np.linspace(0, 1, 2001)[:, None]
    by_mix = mixes**2 * var_d + (1 - mixes) ** 2 * var_e + 2 * mixes * (1 - mixes) * cov
    assert (variance <= by_mix.min(axis=0) * (1 + 1e-12))[listed].all()
    assert variance[listed] == pytest.approx(by_mix.min(axis=0)[listed], rel=1e-3)
    assert variance[~listed] == pytest.approx(var_e[~listed], rel=1e-12)
    best = mixes[by_mix.argmin(axis=0), 0]
    mixed = best * views.scaled_values + (1 - best) * views.sums
    half_a_step = np.abs(views.scaled_values - views.sums) / 4000
    assert (np.abs(y - mixed) <= half_a_step + 1e-9)[listed].all()
    assert y[~listed].tolist() == views.sums[~listed].tolist()


@pytest.mark.parametrize("users", [20_000, 30_000, 10**6])
def test_alone_the_opt_in_users_vary_as_a_sample_without_replacement(users: int) -> None:
    """A hypergeometric count: μ(1 - p)(1 - n_O/n), besides noise. All n users leave only noise."""
    views = release_of("laplace", True).among(users)
    mu = 20_000 * falling(CELLS)
    _, variance = views.combined(mu)
    d, e = views.scaled_variance, views.sum_variance
    sample = mu * (1 - mu / 20_000) * (1 - 20_000 / users)
    expected = sample + np.where(CELLS.is_listed, d * e / (d + e), e)
    assert views.alone(mu, variance) == pytest.approx(expected, rel=1e-9)


def test_records_of_one_user_add_to_the_totals_of_queries_but_not_to_the_star() -> None:
    views = release_of("gauss", False)
    of, p = views.whole_list, falling(CELLS)
    assert of.query_concentration > of.record_concentration
    expected = (of.query_concentration - of.record_concentration) * CELLS.by_query(p) / 20_000
    expected[-1] = 0
    assert views.same_user_variance(p) == pytest.approx(expected)


@pytest.mark.parametrize(("branch", "one_record_each"), BRANCHES)
def test_the_start_is_near_the_truth_and_nowhere_zero(
    branch: Branch, one_record_each: bool
) -> None:
    """On fixed draws: within a tenth of the truth where 300 users and more are."""
    p = falling(CELLS)
    for seed in range(5):
        release = release_of(branch, one_record_each, seed)
        start = release.among(10**6).start()
        assert (start >= 0.5 / 20_000).all()
        often = 20_000 * p > 300
        assert start[often] == pytest.approx(p[often], rel=0.2)
        assert start.sum() == pytest.approx(1, abs=1e-3)


def test_gauss_values_are_put_on_the_scale_of_the_sums() -> None:
    release = release_of("gauss", False)
    constants = WholeList(
        record_concentration=0.5, query_concentration=0.6, value_ratio=2.0, ratio_variance=0.02
    )
    noisy = replace(
        release,
        values=2 * release.values,
        trimmed_from=constants,
        sum_variance=np.full(CELLS.cell_count, 1e12),
    )
    views = noisy.among(10**6)
    listed = CELLS.is_listed
    assert views.scaled_values[listed] == pytest.approx(release.values[listed], rel=1e-3)
    assert views.scaled_variance[listed] == pytest.approx(release.value_variance / 4, rel=1e-3)
    assert views.scaled_threshold == release.threshold / 2
    assert views.whole_list is constants


def test_ties_go_by_byte_order() -> None:
    cells = Cells.of([1] * 20)
    same = np.where(cells.is_listed, 7.0, 0.0)
    release = replace(
        draw_release(cells, falling(cells), np.random.default_rng(0)), values=same, sums=same
    )
    assert release.largest_queries(3).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("squares", "least"), [(0.4, 0.39), (0.001, 0.02), (1.2, 0.98)])
def test_what_is_subtracted_takes_concentrations_that_are_rather_too_small(
    squares: float, least: float
) -> None:
    """One standard error below what was released, where that of the weights is above."""
    cells = Cells.of([2, 1])
    sums = np.array([3000.0, 1000.0, 0.0, 1000.0, 0.0, 5000.0])
    views = replace(
        draw_release(cells, falling(cells), np.random.default_rng(1), one_record_each=False),
        sums=sums,
        record_squares=squares * 5000,
        query_squares=squares * 5000,
        square_std_error=50.0,
    )
    assert views.least_concentrations == pytest.approx((least, least))
    assert views.least_concentrations[0] <= views.whole_list.record_concentration
    assert replace(views, one_record_each=True).least_concentrations == (1, 1)
    p = np.array([0.3, 0.1, 0.0, 0.1, 0.0, 0.5])
    known = views.among(10_000)
    assert known.target_variance(p) == pytest.approx(np.maximum(least * p - p**2, 0) / 10_000)
    total = cells.by_query(p)
    assert known.query_target_variance(p) == pytest.approx(
        np.maximum(least * total - total**2, 0) / 10_000
    )
