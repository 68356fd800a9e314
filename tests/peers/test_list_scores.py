"""Lists made by hand, and the list of a run: measured as every evaluation measures."""

import math

import numpy as np
import pytest
from peers.small_tasks import small_log

from benchmarks.peers.hybrid import found_by
from benchmarks.peers.list_scores import score_list
from benchmarks.peers.task import FoundRecords
from blender_dp.core.blender import blender
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation
from blender_dp.evaluation.trials.scores import score


def found(records: dict[int, float]) -> FoundRecords:
    return FoundRecords(
        record=np.array(list(records), dtype=np.int64), probability=np.array(list(records.values()))
    )


def test_a_list_in_the_wrong_order_by_hand() -> None:
    """Truths 0.5 (0.4 and 0.1) and 0.3: 1/4 and 3/4 of one query's mass are told the wrong way."""
    scores = score_list(found({2: 0.6, 1: 0.2, 0: 0.1}), small_log(), 2)
    gain = [2 ** (0.5 / 0.8) - 1, 2 ** (0.3 / 0.8) - 1]
    of_urls = [2**0.8 - 1, 2**0.2 - 1]
    url_ndcg = (of_urls[1] + of_urls[0] / math.log2(3)) / (of_urls[0] + of_urls[1] / math.log2(3))
    achieved = gain[1] + gain[0] * url_ndcg / math.log2(3)
    assert scores.ndcg == pytest.approx(achieved / (gain[0] + gain[1] / math.log2(3)))
    assert scores.ndcg_against_best == pytest.approx(scores.ndcg)  # these two are the best two
    assert scores.record_l1 == pytest.approx(0.3 + 0.1 + 0.3)
    assert scores.query_l1 == pytest.approx(0.2 + 0.3)
    assert (scores.queries, scores.records, scores.recall) == (2, 3, 1.0)


def test_a_made_up_record_is_worth_nothing_and_costs_all_it_was_given() -> None:
    scores = score_list(found({0: 0.4, 9: 0.5}), small_log(), 2)
    assert (scores.queries, scores.recall) == (2, 0.5)
    assert scores.record_l1 == pytest.approx(0.5)
    assert scores.query_l1 == pytest.approx(0.1 + 0.5)  # query 0 has 0.5, of which 0.4 was found
    assert scores.ndcg == pytest.approx(1 / math.log2(3))  # the true one stands second


def test_a_list_in_order_of_the_wrong_queries_is_good_only_by_itself() -> None:
    scores = score_list(found({3: 0.1, 4: 0.1}), small_log(), 1)
    assert scores.ndcg == 1
    assert scores.recall == 0
    assert scores.ndcg_against_best == pytest.approx(2 ** (0.2 / 0.5) - 1)


def test_a_list_is_cut_to_the_queries_with_the_most_mass() -> None:
    everything = found({0: 0.1, 1: 0.1, 2: 0.15, 3: 0.05, 4: -0.2})
    assert score_list(everything, small_log(), 1) == score_list(
        found({0: 0.1, 1: 0.1}), small_log(), 1
    )
    assert score_list(everything, small_log(), 3).records == 5


def test_an_empty_list_is_worth_nothing() -> None:
    scores = score_list(found({}), small_log(), 2)
    assert (scores.queries, scores.ndcg, scores.ndcg_against_best, scores.recall) == (0, 0, 0, 0)


def test_a_run_is_measured_as_evaluate_measures_it() -> None:
    made_up = synthesize(Shape.AOL, users=20_000, seed=2)
    log = CodedLog.of(made_up.user, made_up.query, made_up.url)
    randomness = Randomness.seeded(5)
    population = CodedPopulation.draw(log, opt_in=0.2, seed=3, randomness=randomness)
    parameters = Parameters(epsilon=4, delta=1e-3, head_list_size=10, preset="paper")
    result = blender(population, parameters, randomness)
    expected = score(result, log.true_cells(result.head_list), log.query_truth(result.head_list))
    scores = score_list(found_by(result, log), log, 10)
    assert scores.queries == expected.queries >= 5
    assert scores.records == expected.records
    for ours, theirs in (
        (scores.ndcg, expected.ndcg),
        (scores.query_l1, expected.query_l1),
        (scores.record_l1, expected.record_l1),
        (scores.recall, expected.recall_queries_10),
    ):
        assert ours == pytest.approx(theirs, rel=1e-12)
