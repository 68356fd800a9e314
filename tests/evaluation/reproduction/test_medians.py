"""Medians and their intervals."""

import math
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from blender_dp.evaluation.reproduction.medians import _interval_rank, median_of


def test_nine_values_by_hand() -> None:
    """Pr[Binomial(9, ½) < 2] = 10/512, twice that is 3.9 %: the second on both sides."""
    values = np.array([9, 1, 8, 2, 7, 3, 6, 4, 5, math.nan])
    assert median_of(values) == (5, 2, 8)


def test_few_values_have_no_interval_and_none_no_median() -> None:
    few = median_of(np.array([1.0, 2.0, 3.0]))
    assert few.value == 2
    assert math.isnan(few.low)
    assert math.isnan(few.high)
    assert math.isnan(median_of(np.array([math.nan])).value)
    assert median_of(np.arange(6.0)) == (2.5, 0, 5)


def test_the_rank_is_the_largest_that_keeps_the_confidence() -> None:
    n = np.arange(1, 120)
    r = np.array([_interval_rank(int(size)) for size in n])
    assert n[2 * binom.cdf(r - 1, n, 0.5) > 0.05 + 1e-12].tolist() == []
    assert n[2 * binom.cdf(r, n, 0.5) <= 0.05 - 1e-12].tolist() == []


def test_the_interval_holds_the_median_as_often_as_promised() -> None:
    """All 2^9 ways in which nine values can fall on either side of the true median, 0."""
    covered = 0
    for sides in product((-1.0, 1.0), repeat=9):
        interval = median_of(np.array(sides) * np.arange(1, 10))
        covered += interval.low <= 0 <= interval.high
    assert covered / 2**9 >= 0.95


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=40))
def test_the_interval_holds_the_sample_median(values: list[float]) -> None:
    median = median_of(np.array(values))
    assert median.low <= median.value <= median.high
