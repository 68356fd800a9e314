"""Rank intervals: all of them hold the true ranks together as often as they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.search_trends.rank_intervals import RankIntervals, rank_intervals
from exact_tests import FALSE_ALARM

TRIALS, LEVEL = 1_500, 0.05
TRUE = np.array([0.03, 0.03, 0.02, 0.02, 0.02, 0.02, 0.012, 0.01, 0.01, 0.01, 0.01, 0.01])
"""Ties are the hard case: every order of them is true, and none may be excluded."""


def test_what_is_far_apart_has_its_place_and_what_is_close_shares_one() -> None:
    estimate = np.array([0.1, 0.05, 0.0499, 0.0498, 0.01])
    found = rank_intervals(estimate, np.full(5, 0.001), LEVEL)
    assert found.best.tolist() == [1, 2, 2, 2, 5]
    assert found.worst.tolist() == [1, 4, 4, 4, 5]
    assert found.group.tolist() == [1, 2, 2, 2, 3]


def test_groups_are_pairwise_alike_even_where_likeness_is_no_chain() -> None:
    """Each item is like its neighbour; the third differs from the first."""
    found = rank_intervals(np.array([0.3, 0.27, 0.24, 0.21]), np.full(4, 0.009), LEVEL)
    assert found.group.tolist() == [1, 1, 2, 2]
    assert (found.best[1], found.worst[1]) == (1, 3)


@pytest.mark.parametrize("count", [0, 1])
def test_few_items_need_no_comparison(count: int) -> None:
    found = rank_intervals(np.full(count, 0.1), np.full(count, 0.1), LEVEL)
    assert found.best.tolist() == found.worst.tolist() == [1] * count


def by_hand(estimate: FloatArray, std_error: FloatArray) -> list[tuple[int, int]]:
    """Derive the intervals a second time: Holm's step-down over p-values, one by one."""
    n = len(estimate)
    share = np.minimum(np.clip(estimate, 0, None) + 1 / (n + 1), 0.5)
    odds = np.sqrt(share / (1 - share))
    p_values = {}
    for i in range(n):
        for j in range(n):
            if i != j:
                covariance = -odds[i] * odds[j] * std_error[i] * std_error[j]
                error = np.sqrt(std_error[i] ** 2 + std_error[j] ** 2 - 2 * covariance)
                p_values[i, j] = norm.sf((estimate[i] - estimate[j]) / error)
    surely = set()
    for step, pair in enumerate(sorted(p_values, key=lambda pair: p_values[pair])):
        if p_values[pair] > LEVEL / (len(p_values) - step):
            break
        surely.add(pair)
    return [
        (1 + sum((j, i) in surely for j in range(n)), n - sum((i, j) in surely for j in range(n)))
        for i in range(n)
    ]


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), min_size=2, max_size=9, unique=True)
)
def test_the_intervals_are_those_of_holms_procedure(items: list[tuple[int, int]]) -> None:
    items.sort(reverse=True)
    estimate = np.array([0.004 * size for size, _ in items])
    std_error = np.array([0.002 * error for _, error in items])
    found = rank_intervals(estimate, std_error, LEVEL)
    assert list(zip(found.best, found.worst, strict=True)) == by_hand(estimate, std_error)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = np.sort(np.random.default_rng(1).random(40))[::-1] / 20
    whole = rank_intervals(estimate, np.full(40, 0.002), LEVEL)
    monkeypatch.setattr("blender_dp.search_trends.rank_intervals._ROWS_AT_ONCE", 7)
    pieces = rank_intervals(estimate, np.full(40, 0.002), LEVEL)
    np.testing.assert_array_equal(whole.best, pieces.best)
    np.testing.assert_array_equal(whole.worst, pieces.worst)


def holds(found: RankIntervals, order: IntArray) -> bool:
    """Tell whether every interval holds a true rank of its item."""
    true = TRUE[order]
    first = 1 + (true[:, np.newaxis] < TRUE).sum(axis=1)
    last = len(TRUE) - (true[:, np.newaxis] > TRUE).sum(axis=1)
    return bool(np.all((found.best <= first) & (found.worst >= last)))


def times_right(level: float, seed: int) -> int:
    """Count releases whose intervals all hold; the reports are LocalAlg's for k = 13 queries."""
    rng, n, t, k = np.random.default_rng(seed), 50_000, 0.4, len(TRUE) + 1
    lie = (1 - t) / (k - 1)
    law = np.append(lie + (t - lie) * TRUE, 0)
    law[-1] = 1 - law.sum()
    reported = rng.multinomial(n, law, TRIALS)[:, :-1] / n
    right = 0
    for r_hat in reported:
        order = np.argsort(-r_hat, kind="stable")
        estimate = (r_hat[order] - lie) / (t - lie)
        error = np.sqrt(r_hat[order] * (1 - r_hat[order]) / (n - 1)) / (t - lie)
        right += holds(rank_intervals(estimate, error, level), order)
    return right


def assert_right(count: int) -> None:
    assert binom.cdf(count, TRIALS, 1 - LEVEL) > FALSE_ALARM, f"{count} of {TRIALS}"


def test_all_intervals_hold_at_once_as_often_as_promised(seed: int) -> None:
    assert_right(times_right(LEVEL, seed))


def test_forgetting_that_there_are_many_pairs_is_caught(seed: int) -> None:
    """At 66 times the level, as if there were one pair instead of 66, most releases are wrong."""
    with pytest.raises(AssertionError, match=f"of {TRIALS}"):
        assert_right(times_right(66 * LEVEL, seed))


def test_the_number_of_trials_tells_the_two_apart() -> None:
    passing = min(n for n in range(TRIALS) if binom.cdf(n, TRIALS, 1 - LEVEL) > FALSE_ALARM)
    assert binom.sf(passing - 1, TRIALS, 0.8) < FALSE_ALARM
