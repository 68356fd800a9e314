"""The assertions about randomness are themselves right: calibrated, and awake."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from exact_tests import (
    FALSE_ALARM,
    assert_frequencies,
    assert_same_law,
    assert_sample_catches,
    binomial_p_value,
    miss_probability,
)

DIE = dict.fromkeys(range(6), 1 / 6)
NOMINAL = 0.05
RUNS = 600


def alarms(once: Callable[[np.random.Generator], None], seed: int) -> int:
    """Count how often an assertion fails in 600 runs."""
    rng, failed = np.random.default_rng(seed), 0
    for _ in range(RUNS):
        try:
            once(rng)
        except AssertionError:
            failed += 1
    return failed


def roll(rng: np.random.Generator, times: int = 300) -> Counter[int]:
    return Counter(rng.integers(0, 6, times).tolist())


def test_false_alarms_are_no_more_frequent_than_stated(seed: int) -> None:
    """At a nominal 5 %, at most 5 % of 600 runs fail but for chance, which is 1e-9 here."""
    failed = alarms(lambda rng: assert_frequencies(roll(rng), DIE, NOMINAL), seed)
    assert failed <= binom.isf(FALSE_ALARM, RUNS, NOMINAL)


def test_two_samples_of_one_law_raise_no_more_alarms_than_stated(seed: int) -> None:
    failed = alarms(lambda rng: assert_same_law(roll(rng), roll(rng), range(6), NOMINAL), seed)
    assert failed <= binom.isf(FALSE_ALARM, RUNS, NOMINAL)


def test_misses_are_as_frequent_as_computed(seed: int) -> None:
    """A coin of 0.6 tested as fair: what the formula says, within exact tails of 1e-9."""
    computed = miss_probability(200, 0.5, 0.6, NOMINAL / 2)
    coin = {True: 0.5, False: 0.5}

    def once(rng: np.random.Generator) -> None:
        heads = int(rng.binomial(200, 0.6))
        assert_frequencies(Counter({True: heads, False: 200 - heads}), coin, NOMINAL)

    missed = RUNS - alarms(once, seed)
    assert binomial_p_value(missed, RUNS, computed) > FALSE_ALARM


def test_an_outcome_that_cannot_happen_fails_at_once() -> None:
    with pytest.raises(AssertionError, match="impossible outcomes: \\['7'\\]"):
        assert_frequencies(Counter({0: 5, 7: 1}), DIE)
    with pytest.raises(AssertionError, match="impossible outcomes"):
        assert_frequencies(Counter({"x": 1, "y": 1}), {"x": 1.0, "y": 0.0})


def test_an_expectation_that_is_no_distribution_is_refused() -> None:
    with pytest.raises(AssertionError, match="add up to one"):
        assert_frequencies(Counter({0: 5}), {0: 0.9})


def test_a_sample_too_small_for_its_twin_is_refused() -> None:
    loaded = {**dict.fromkeys(range(5), 0.16), 5: 0.2}
    with pytest.raises(AssertionError, match="100 draws overlook the error"):
        assert_sample_catches(100, DIE, loaded)
    assert_sample_catches(30_000, DIE, loaded)


@pytest.mark.parametrize(("count", "n", "p"), [(0, 10, 0.5), (10, 10, 0.5), (3, 8, 0.4)])
def test_a_p_value_is_twice_the_smaller_tail(count: int, n: int, p: float) -> None:
    at_most = sum(binom.pmf(k, n, p) for k in range(count + 1))
    at_least = sum(binom.pmf(k, n, p) for k in range(count, n + 1))
    assert binomial_p_value(count, n, p) == pytest.approx(min(1, 2 * min(at_most, at_least)))
