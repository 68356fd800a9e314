"""The law of an excess of the clients: its tails against sums of the noise itself."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, poisson

from blender_dp.core.estimation.pushed_law import PushedLaw
from blender_dp.core.head_list.cells import FloatArray

SLOPES = (2.7, 0.69)
NORMAL, MEAN, WEIGHT, SCALE = 12.0, 14.0, 0.9, 0.3


def law(**changed: object) -> PushedLaw:
    usual = PushedLaw(
        normal_variance=np.array([NORMAL]),
        sample_variance=np.array([MEAN]),
        share=np.ones(1),
        item=np.zeros(1, dtype=np.int64),
        value_weight=np.array([WEIGHT]),
        sum_scale=np.array([SCALE]),
        slopes=SLOPES,
    )
    return replace(usual, **changed)  # type: ignore[arg-type]


def added_up(t: float) -> float:
    """Return the tail by summing over D's noise, E's noise and the sample."""
    y = np.arange(-60, 40)
    up, down = SLOPES
    d = np.where(y >= 0, np.exp(-up * y), np.exp(down * np.minimum(y, 0)))
    d /= d.sum()
    mean = (y * d).sum()
    e = np.linspace(-8, 8, 161)
    of_e = np.exp(-np.abs(e) / SCALE)
    of_e /= of_e.sum()
    users = np.arange(0, 80)
    lost = MEAN - users[:, None, None] - WEIGHT * (y[None, :, None] - mean) + e[None, None, :]
    weight = poisson.pmf(users, MEAN)[:, None, None] * d[None, :, None] * of_e[None, None, :]
    return float((weight * norm.sf((t - lost) / np.sqrt(NORMAL))).sum())


@pytest.mark.parametrize("t", [5.0, 10.0, 15.0, 20.0, 25.0, 30.0])
def test_tails_are_those_of_the_noise_within_a_tenth(t: float) -> None:
    assert law().tails(np.array([t]))[0] == pytest.approx(added_up(t), rel=0.1)


def test_a_normal_law_as_wide_would_be_far_off() -> None:
    """The twin: the tail of D's noise forgotten."""
    t = 45.0
    normal = float(norm.sf(t / law().deviation[0]))
    assert not 0.5 < normal / added_up(t) < 2


def test_without_noise_and_sample_it_is_the_normal_law() -> None:
    plain = law(
        sample_variance=np.zeros(1), value_weight=np.zeros(1), sum_scale=np.zeros(1), slopes=None
    )
    z = np.array([1.0, 2.0, 4.0, 6.0])
    repeated = replace(
        plain,
        normal_variance=np.full(4, 9.0),
        sample_variance=np.zeros(4),
        share=np.ones(4),
        item=np.arange(4),
        value_weight=np.zeros(4),
        sum_scale=np.zeros(4),
    )
    assert repeated.tails(3 * z) == pytest.approx(norm.sf(z), rel=1e-9)
    assert repeated.critical(1e-5) == pytest.approx(3 * norm.isf(1e-5), rel=1e-6)


def test_critical_values_are_where_the_tail_is_the_level() -> None:
    for level in (1e-2, 1e-4, 1e-7):
        t: FloatArray = law().critical(level)
        assert law().tails(t)[0] == pytest.approx(level, rel=1e-6)


def test_nothing_is_rare_about_an_excess_that_is_none() -> None:
    assert law().tails(np.array([-3.0]))[0] == 1.0
    assert law().tails(np.array([0.0]))[0] == 1.0


def test_a_query_adds_up_the_noise_of_its_cells() -> None:
    one = law()
    two = replace(
        one,
        item=np.zeros(2, dtype=np.int64),
        value_weight=np.full(2, WEIGHT),
        sum_scale=np.full(2, SCALE),
    )
    noise = one.deviation**2 - NORMAL - MEAN
    assert two.deviation**2 == pytest.approx(NORMAL + MEAN + 2 * noise)
