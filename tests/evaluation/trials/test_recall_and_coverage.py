"""Which of the truly popular are listed, and which intervals hold the truth."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blender_dp.core.head_list.cells import Cells
from blender_dp.evaluation.trials.metrics import coverage, l1_at, rare_half_bias, recall_at

NAN = math.nan
items = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=12)


def recall(k: int, truth: list[float], listed: list[int]) -> float:
    return recall_at(k, np.array(truth), np.isin(np.arange(len(truth)), listed))


def test_recall_by_hand() -> None:
    """The three most popular are items 3, 0 and 2; items 0 and 3 are listed: 2/3.

    Item 1 is listed and not among them; of the two most popular both are listed.
    """
    truth = [0.3, 0.05, 0.2, 0.4, 0.05]
    assert recall(3, truth, [0, 1, 3]) == pytest.approx(2 / 3)
    assert recall(2, truth, [0, 1, 3]) == 1
    assert recall(1, truth, [0, 1, 2]) == 0


def test_any_of_the_items_that_tie_for_the_last_place_fills_it() -> None:
    """Of k = 2 places item 0 has one, and items 1, 2, 3 tie for the other."""
    truth = [0.4, 0.2, 0.2, 0.2]
    assert recall(2, truth, [0, 3]) == 1
    assert recall(2, truth, [1, 2, 3]) == 0.5
    assert recall(2, truth, [0]) == 0.5


def test_what_nobody_has_is_not_popular() -> None:
    """Two items have users: they are all that can be found, and an item without is no find."""
    assert recall(10, [0.7, 0.3, 0.0, 0.0], [0, 2, 3]) == 0.5
    assert recall(10, [0.7, 0.3, 0.0], [0, 1]) == 1
    assert math.isnan(recall(10, [0.0, 0.0], [0]))
    assert math.isnan(recall(10, [], []))


@given(items=items, k=st.integers(1, 15))
def test_recall_is_the_best_over_all_ways_to_break_ties(
    items: list[tuple[int, bool]], k: int
) -> None:
    truth = [float(t) for t, _ in items]
    assume(any(truth))
    ranked = sorted(((t, listed) for t, listed in items if t), reverse=True)  # listed first
    top = ranked[:k]
    expected = sum(listed for _, listed in top) / len(top)
    found = recall_at(k, np.array(truth), np.array([listed for _, listed in items]))
    assert found == pytest.approx(expected)


@given(items=items, k=st.integers(1, 15), more=st.integers(0, 11))
def test_a_longer_list_never_finds_less(items: list[tuple[int, bool]], k: int, more: int) -> None:
    truth = np.array([float(t) for t, _ in items])
    assume(truth.any())
    listed = np.array([is_listed for _, is_listed in items])
    longer = listed.copy()
    longer[more % len(items)] = True
    assert recall_at(k, truth, listed) <= recall_at(k, truth, longer)
    assert recall_at(k, truth, np.ones_like(listed)) == 1


def test_l1_of_the_most_popular_by_hand() -> None:
    """Items 3 and 0 are the two most popular: |0.3 - 0.4| + |0 - 0.3| = 0.4."""
    truth, estimate = np.array([0.3, 0.05, 0.2, 0.4]), np.array([0.0, 0.5, 0.1, 0.3])
    assert l1_at(2, estimate, truth) == pytest.approx(0.4)
    assert l1_at(9, estimate, truth) == pytest.approx(0.4 + 0.45 + 0.1)
    assert l1_at(9, np.array([]), np.array([])) == 0


@given(items=items, k=st.integers(1, 15))
def test_l1_of_the_most_popular_takes_the_first_of_those_that_tie(
    items: list[tuple[int, bool]], k: int
) -> None:
    truth = np.array([float(t) for t, _ in items])
    estimate = np.array([float(listed) for _, listed in items])
    top = np.argsort(-truth, kind="stable")[:k]
    assert l1_at(k, estimate, truth) == pytest.approx(np.abs(estimate - truth)[top].sum())


def test_the_bias_of_the_rare_half_by_hand() -> None:
    """By estimate the rarer half of the records is 0.01, 0.02, truly 0.02, 0.03: -40 %."""
    cells = Cells.of([3, 1])
    estimate = np.array([0.5, 0.01, 0.2, 0.1, 0.02, 0.1, 0.07])
    truth = np.array([0.4, 0.02, 0.2, 0.1, 0.03, 0.1, 0.15])
    assert rare_half_bias(cells, estimate, truth) == pytest.approx(0.03 / 0.05 - 1)
    assert math.isnan(rare_half_bias(Cells.of([]), np.ones(1), np.ones(1)))


def test_coverage_by_hand() -> None:
    """0.2 in [0.1, 0.3] yes; 0.5 in [0.1, 0.3] no; 0.3 in [0.3, 0.4] yes; one has no interval."""
    low, high = np.array([0.1, 0.1, 0.3, NAN]), np.array([0.3, 0.3, 0.4, NAN])
    found = coverage((low, high), np.array([0.2, 0.5, 0.3, 0.2]))
    assert found.share == pytest.approx(2 / 3)
    assert found.without_interval == 1


def test_coverage_of_nothing_is_no_number() -> None:
    empty = np.array([])
    assert math.isnan(coverage((empty, empty), empty).share)
    found = coverage((np.array([NAN, NAN]), np.array([NAN, 0.5])), np.array([0.1, 0.1]))
    assert math.isnan(found.share)
    assert found.without_interval == 2


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 2, st.floats(0, 0.5)), min_size=1, max_size=9))
def test_wider_intervals_cover_no_less(rows: list[tuple[float, float, float]]) -> None:
    truth, middle, reach = np.array(rows).T
    narrow = coverage((middle - reach, middle + reach), truth).share
    wide = coverage((middle - 2 * reach, middle + 2 * reach), truth).share
    assert 0 <= narrow <= wide <= 1
    assert coverage((truth - reach, truth + reach), truth).share == 1
