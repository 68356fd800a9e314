"""One result against the truth, each measure from the numbers it should be made of."""

import math

import numpy as np
import pytest
from core.small_result import empty_result, small_result

from blender_dp.evaluation.trials.scores import QueryTruth, score

TRUTH = np.array([0.2, 0.05, 0.05, 0.3, 0.0, 0.4])
"""Of ⟨a,1⟩ ⟨a,2⟩ ⟨a,⋆⟩ ⟨b,1⟩ ⟨b,⋆⟩ ⟨⋆,⋆⟩."""
LISTED = [0, 1, 3]
QUERIES = QueryTruth(
    probability=np.array([0.3, 0.3, 0.25, 0.15]), is_listed=np.array([True, True, False, False])
)


def test_measures_of_records_are_taken_over_the_listed_ones() -> None:
    result = small_result()
    found = score(result, TRUTH, QUERIES)
    estimate = result.blended.cells.projected[LISTED]
    truth = TRUTH[LISTED]
    off = estimate / estimate.sum() - truth / truth.sum()
    assert found.record_l1_rescaled == pytest.approx(np.abs(off).sum())
    assert found.record_rmse == pytest.approx((((estimate - truth) ** 2).sum() / 3) ** 0.5)
    low, high = result.blended.cells.raw.interval()
    holds = [low[c] <= TRUTH[c] <= high[c] for c in LISTED if not math.isnan(low[c])]
    assert found.records_without_interval == 3 - len(holds)
    assert found.record_coverage == pytest.approx(sum(holds) / len(holds))


def test_measures_of_queries_are_taken_over_the_listed_ones() -> None:
    """The truth of a is 0.2 + 0.05 + 0.05 = 0.3 and that of b 0.3 + 0 = 0.3: shares 1/2, 1/2."""
    result = small_result()
    found = score(result, TRUTH, QUERIES)
    a, b, _ = result.blended.queries.raw.probability
    assert found.query_l1_rescaled == pytest.approx(abs(a / (a + b) - 0.5) + abs(b / (a + b) - 0.5))
    low, high = result.blended.queries.raw.interval()
    holds = [low[q] <= 0.3 <= high[q] for q in (0, 1) if not math.isnan(low[q])]
    assert found.query_coverage == pytest.approx(sum(holds) / len(holds))
    assert found.queries_without_interval == 2 - len(holds)


def test_weights_are_medians_over_what_is_listed() -> None:
    result = small_result()
    found = score(result, TRUTH)
    weights = np.sort(result.blended.cells.opt_in_weight[LISTED])
    assert found.record_opt_in_weight == weights[1]
    assert found.query_opt_in_weight == result.blended.queries.opt_in_weight[:2].mean()


def test_recall_needs_the_truth_about_queries_that_are_not_listed() -> None:
    """Two of the four queries there are, both in the ten and in the fifty most popular."""
    found = score(small_result(), TRUTH, QUERIES)
    assert (found.recall_queries_10, found.recall_queries_50) == (0.5, 0.5)
    without = score(small_result(), TRUTH)
    assert math.isnan(without.recall_queries_10)
    assert math.isnan(without.recall_queries_50)
    assert math.isnan(without.query_l1_top_50)
    a, b, _ = small_result().blended.queries.raw.probability
    missed = 0.25 + 0.15  # the two that are not listed
    assert found.query_l1_top_50 == pytest.approx(abs(a - 0.3) + abs(b - 0.3) + missed)
    assert without.record_rmse == found.record_rmse


def test_what_is_not_listed_is_missing() -> None:
    """⟨⋆,⋆⟩ has 0.4; other URLs of the listed query a another 0.05."""
    found = score(small_result(), TRUTH)
    assert found.missing_queries == pytest.approx(0.4)
    assert found.missing_records == pytest.approx(0.45)
    assert score(empty_result(), np.ones(1)).missing_records == 1


def test_an_empty_list_finds_nothing_and_has_no_errors() -> None:
    nothing = QueryTruth(probability=QUERIES.probability, is_listed=np.zeros(4, dtype=np.bool_))
    found = score(empty_result(), np.ones(1), nothing)
    assert (found.recall_queries_10, found.record_l1, found.records) == (0, 0, 0)
    assert math.isnan(found.record_rmse)
    assert math.isnan(found.record_coverage)
    assert math.isnan(found.record_opt_in_weight)
    assert (found.records_without_interval, found.queries_without_interval) == (0, 0)
