"""Evidence from many records together: its law by chance, and what it sees."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from blender_dp.core.estimation.spread_push import chance_of, evidence, least_shift
from exact_tests import FALSE_ALARM, binomial_p_value

RUNS, RECORDS = 8_000, 60


def chances(p_values: np.ndarray) -> np.ndarray:
    return np.array([chance_of(evidence(row), RECORDS) for row in p_values])


def test_chance_is_as_rare_as_it_says(seed: int) -> None:
    """At one in a hundred; with false alarm 1e-9, exact."""
    found = chances(np.random.default_rng(seed).random((RUNS, RECORDS)))
    assert binomial_p_value(int((found < 0.01).sum()), RUNS, 0.01) > FALSE_ALARM


def test_p_values_a_little_too_small_are_caught(seed: int) -> None:
    """The twin: every p-value a fifth too small."""
    found = chances(0.8 * np.random.default_rng(seed).random((RUNS, RECORDS)))
    assert binomial_p_value(int((found < 0.01).sum()), RUNS, 0.01) < FALSE_ALARM


@pytest.mark.parametrize("power", [0.5, 0.8])
def test_the_stated_push_is_seen_about_as_often_as_stated(seed: int, power: float) -> None:
    shift = least_shift(RECORDS, 10, 1e-3, power)
    z = np.random.default_rng(seed).normal(size=(4000, RECORDS))
    z[:, :10] += shift
    seen = int((chances(norm.sf(z)) < 1e-3).sum())
    assert binom.cdf(seen, 4000, power - 0.08) > FALSE_ALARM
    assert binom.sf(seen - 1, 4000, power + 0.08) > FALSE_ALARM


@pytest.mark.parametrize("records", [1000])
def test_power_is_as_stated_on_long_lists_too(seed: int, records: int) -> None:
    shift = least_shift(records, 10, 1e-4, 0.8)
    p = np.random.default_rng(seed).random((300, records))
    p[:, :10] = norm.sf(np.random.default_rng(seed + 1).normal(shift, 1, (300, 10)))
    seen = sum(chance_of(evidence(row), records) < 1e-4 for row in p)
    assert 0.65 * 300 < seen < 0.93 * 300


@pytest.mark.parametrize("records", [20_000, 60_000])
def test_chance_alone_is_no_evidence_on_the_longest_lists(seed: int, records: int) -> None:
    p = np.random.default_rng(seed).random((3, records))
    chances_found = [chance_of(evidence(row), records) for row in p]
    assert min(chances_found) > 1e-9 / 3
    assert max(chances_found) > 0.001


def test_many_small_excesses_count_where_none_does_alone() -> None:
    small = np.full(RECORDS, 0.5)
    small[:10] = 0.002
    assert small.min() * RECORDS > 0.1
    assert chance_of(evidence(small), RECORDS) < 1e-6


def test_nothing_small_is_no_evidence() -> None:
    assert chance_of(evidence(np.full(5, 0.5)), 5) == 1.0
    assert chance_of(evidence(np.zeros(0)), 0) == 1.0
