"""How the opt-in users' records are spread, and how D compares with E, read off a release."""

from dataclasses import replace

import numpy as np
import pytest
from core.sharp_cases import draw_release, falling
from scipy.stats import chi2

from blender_dp.core.estimation.opt_in_views import OptInViews, ratio_by_cell
from blender_dp.core.estimation.whole_list import WholeList
from blender_dp.core.head_list.cells import Cells

CELLS = Cells.of([2, 1, 3, 1, 1, 1, 2, 1])


def gauss_release(ratio: float = 1.0, spread: float = 0.0, seed: int = 0) -> OptInViews:
    """Give D as ``ratio`` times E, each record off by a factor of relative deviation ``spread``."""
    rng = np.random.default_rng(seed)
    release = draw_release(
        CELLS, falling(CELLS), rng, epsilon=8.0, branch="gauss", one_record_each=False
    )
    factor = ratio * (1 + spread * rng.normal(size=CELLS.cell_count))
    return replace(release, values=release.values * factor)


def test_with_one_record_each_a_user_is_one_record() -> None:
    release = draw_release(CELLS, falling(CELLS), np.random.default_rng(0))
    whole_list = release.whole_list
    assert whole_list.record_concentration == whole_list.query_concentration == 1
    assert (whole_list.value_ratio, whole_list.ratio_variance) == (1, 0)
    assert ratio_by_cell(release, 1.0).tolist() == [1.0] * CELLS.cell_count


def test_concentrations_by_hand() -> None:
    """(30 + 10)/100 and (60 + 10)/(100 + 40), one standard error up."""
    listed = CELLS.is_listed
    sums = np.where(listed, 100 / listed.sum(), 40 / (~listed)[:-1].sum())
    release = replace(
        gauss_release(), sums=sums, record_squares=30.0, query_squares=60.0, square_std_error=10.0
    )
    whole_list = release.whole_list
    assert whole_list.record_concentration == pytest.approx(0.4)
    assert whole_list.query_concentration == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("record_squares", "query_squares", "expected"),
    [
        (-1e6, -1e6, (0.02, 0.02)),
        (1e9, 1e9, (1.0, 1.0)),
        (1e9, -1e9, (1.0, 1.0)),
    ],
)
def test_noise_cannot_push_a_concentration_out_of_its_range(
    record_squares: float, query_squares: float, expected: tuple[float, float]
) -> None:
    release = replace(gauss_release(), record_squares=record_squares, query_squares=query_squares)
    whole_list = release.whole_list
    assert (whole_list.record_concentration, whole_list.query_concentration) == expected


def test_sums_that_noise_made_negative_do_no_harm() -> None:
    release = replace(gauss_release(), sums=np.full(CELLS.cell_count, -50.0))
    whole_list = release.whole_list
    assert 0.02 <= whole_list.record_concentration <= whole_list.query_concentration <= 1
    assert whole_list.value_ratio == pytest.approx(32**0.5)


@pytest.mark.parametrize("ratio", [1.5, 2.0, 4.0])
def test_the_common_ratio_is_found(ratio: float) -> None:
    assert gauss_release(ratio).whole_list.value_ratio == pytest.approx(ratio, rel=0.03)


@pytest.mark.parametrize(("ratio", "expected"), [(0.3, 1.0), (50.0, 32**0.5)])
def test_the_common_ratio_stays_between_one_and_the_root_of_m(
    ratio: float, expected: float
) -> None:
    release = gauss_release()
    values = np.maximum(release.values * ratio, 2.1 * release.threshold)
    found = replace(release, values=values, sums=release.sums * 3).whole_list
    assert found.value_ratio == pytest.approx(expected)


def test_a_query_with_many_users_has_its_own_ratio_and_a_rare_one_the_common_ratio() -> None:
    release = gauss_release(ratio=2.0)
    first = CELLS.query_of_cell == 0
    release = replace(release, values=np.where(first, release.values * 1.2, release.values))
    ratio = ratio_by_cell(release, 2.0)
    assert ratio[first] == pytest.approx(2.4, rel=0.02)
    noisy = replace(release, sum_variance=np.full(CELLS.cell_count, 1e9))
    assert ratio_by_cell(noisy, 2.0)[:-1] == pytest.approx(2.0, rel=0.01)


def test_a_ratio_is_at_most_twice_off_the_common_one() -> None:
    release = replace(gauss_release(), sums=np.full(CELLS.cell_count, 1.0))
    ratio = ratio_by_cell(release, 2.0)
    assert ((ratio >= 1.0) & (ratio <= 4.0)).all()


def test_spread_around_the_ratio_is_found() -> None:
    """The mean over fixed draws of records that are 30 % off, each on its own."""
    cells_found = [
        gauss_release(2.0, spread=0.3, seed=seed).whole_list.ratio_variance for seed in range(40)
    ]
    assert np.mean(cells_found) == pytest.approx(0.09 * 0.6, rel=0.5)


def test_the_spread_has_a_floor() -> None:
    assert gauss_release(2.0).whole_list.ratio_variance == 0.01
    few = Cells.of([1, 2])
    release = draw_release(
        few, falling(few), np.random.default_rng(0), branch="gauss", one_record_each=False
    )
    assert release.whole_list.ratio_variance == 0.06


def test_an_empty_list_has_constants_too() -> None:
    empty = Cells.of([])
    release = draw_release(empty, np.ones(1), np.random.default_rng(0), branch="gauss")
    whole_list = release.whole_list
    assert (whole_list.value_ratio, whole_list.ratio_variance) == (1, 0.06)


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "twin"])
def test_weights_of_users_vary_less_than_their_shares(seed: int, *, is_right: bool) -> None:
    """D over its ratio varies by μ over the squared ratio. The twin takes the variance of E.

    Users have one to twenty records and hold this one by chance. The statistic is a sum of squared
    errors that are normal to within the central limit; a right variance is refused with a
    probability of 1e-6.
    """
    users, trials, held = 20_000, 2_000, 0.02
    records = np.arange(1, 21)
    rng = np.random.default_rng(seed)
    holders = rng.poisson(users * held / 20, size=(trials, 20))
    mu = users * held * (1 / records).mean()
    ratio = (records**-0.5).mean() / (1 / records).mean()
    c = (records**-2.0).mean() / (1 / records).mean()
    error = holders @ records**-0.5 / ratio - mu
    exact = draw_release(CELLS, falling(CELLS), rng, branch="gauss", one_record_each=False)
    constants = WholeList(
        record_concentration=float(c),
        query_concentration=float(c),
        value_ratio=float(ratio),
        ratio_variance=0.0,
    )
    drawn_together = np.full(CELLS.cell_count, 1e12)
    views = replace(exact, trimmed_from=constants, sum_variance=drawn_together)
    variance = mu * (views.value_sampling()[0][0] if is_right else c)
    statistic = (error**2).sum() / variance
    tail = 2 * min(chi2.cdf(statistic, trials), chi2.sf(statistic, trials))
    assert (tail > 1e-6) == is_right
