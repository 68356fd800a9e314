"""Many trials: the same ones whatever runs them, and their summary."""

import math
from dataclasses import astuple, fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from core.small_result import small_result
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.scores import Scores, score
from blender_dp.evaluation.trials.summary import (
    summary,
    summary_of,
    summary_table,
    trial_table,
)
from blender_dp.evaluation.trials.trials import Experiment, run_trials

PARAMETERS = Parameters(preset="paper", epsilon=4, delta=1e-3, head_list_size=10)
EXPERIMENT = Experiment(parameters=PARAMETERS, opt_in=0.2, repetitions=5, seed=3)


@cache
def log() -> CodedLog:
    made_up = synthesize(Shape.AOL_SINGLE, users=5_000, seed=0)
    return CodedLog.of(made_up.user, made_up.query, made_up.url, users_without_records=500)


@cache
def larger_log() -> CodedLog:
    made_up = synthesize(Shape.AOL_SINGLE, users=60_000, seed=0)
    return CodedLog.of(made_up.user, made_up.query, made_up.url)


def values(scores: list[Scores]) -> np.ndarray:
    return np.array([astuple(trial) for trial in scores])


def test_the_number_of_workers_changes_nothing() -> None:
    alone, told = run_trials(log(), EXPERIMENT, workers=1), list[int]()
    together = run_trials(log(), EXPERIMENT, workers=2, progress=told.append)
    np.testing.assert_array_equal(values(alone), values(together))
    assert told == [1, 2, 3, 4, 5]


def test_more_repetitions_only_add_trials() -> None:
    fewer = run_trials(log(), replace(EXPERIMENT, repetitions=2), workers=1)
    more = run_trials(log(), replace(EXPERIMENT, repetitions=3), workers=1)
    np.testing.assert_array_equal(values(fewer), values(more)[:2])


def test_trials_and_seeds_differ() -> None:
    of_one = values(run_trials(log(), EXPERIMENT, workers=1))
    of_another = values(run_trials(log(), replace(EXPERIMENT, seed=4), workers=1))
    assert len(np.unique(np.concatenate([of_one, of_another]), axis=0)) == 10


def test_with_relay_clients_errors_fall_and_intervals_still_cover() -> None:
    """All clients behind a relay, on the same trials.

    Some 200 intervals are counted. If 100 of them are independent and each covers with probability
    0.95, fewer than 0.8 do with a probability below 1e-6.
    """
    parameters = Parameters(epsilon=2, delta=1e-3, head_list_size=20, one_record_each=True)
    direct = Experiment(parameters=parameters, opt_in=0.1, repetitions=10)
    errors = []
    for share in (0.0, 1.0):
        rules = RelayRules(share=share)
        scores = run_trials(larger_log(), replace(direct, relay=rules), workers=1)
        errors.append(np.mean([trial.query_l1 for trial in scores]))
        covered = [trial.record_coverage for trial in scores]
        assert sum(trial.records for trial in scores) > 150
        assert np.mean(covered) > 0.8
        of_relay = ("ndcg_relay", "query_l1_relay", "record_relay_weight", "query_relay_weight")
        for name in of_relay:
            assert all(np.isfinite(getattr(trial, name)) == (share == 1) for trial in scores), name
    assert all(trial.query_l1_relay < trial.query_l1_opt_in for trial in scores)
    assert all(0.5 < trial.query_relay_weight <= 1 for trial in scores)
    assert errors[1] < errors[0] / 3


def test_a_generous_promise_finds_the_popular_and_covers_the_truth() -> None:
    """At ε = 20 little but the sampling is random, so that 95 % intervals hold most truths."""
    query = np.repeat(np.arange(12), 100 * np.arange(12, 0, -1))
    popular = CodedLog.of(np.arange(len(query)), query, query)
    generous = Experiment(
        parameters=Parameters(preset="paper", epsilon=20, delta=1e-3), opt_in=0.5, repetitions=10
    )
    found = {row.measure: row for row in summary(run_trials(popular, generous, workers=1))}
    assert found["queries"].mean == 12
    assert found["recall_queries_10"].mean == found["recall_queries_50"].mean == 1
    assert found["ndcg"].mean > 0.95
    assert 0.5 < found["query_coverage"].mean <= 1


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("repetitions", {"repetitions": 0}),
        ("seed", {"seed": -1}),
        ("opt_in", {"opt_in": 1.0}),
        ("opt_in", {"opt_in": math.nan}),
        ("records_per_client", {"parameters": replace(PARAMETERS, records_per_client=2)}),
        ("records_per_optin_user", {"parameters": replace(PARAMETERS, records_per_optin_user=2)}),
        ("epsilon", {"parameters": replace(PARAMETERS, epsilon=1e-9)}),
    ],
)
def test_an_experiment_out_of_range_is_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as refusal:
        replace(EXPERIMENT, **changes)
    assert refusal.value.name == name


def test_workers_out_of_range_and_groups_too_small_are_refused_before_any_trial() -> None:
    with pytest.raises(ParameterError, match="workers"):
        run_trials(log(), EXPERIMENT, workers=0)
    one = np.array([1])
    tiny = CodedLog.of(one, one, one, users_without_records=3)
    with pytest.raises(BlenderError, match="both groups need users"):
        run_trials(tiny, EXPERIMENT, workers=2)


def some_scores(ndcgs: list[float]) -> list[Scores]:
    one = score(small_result(), np.full(6, 1 / 6))
    return [replace(one, ndcg=ndcg) for ndcg in ndcgs]


def test_a_summary_by_hand() -> None:
    """Of 1, 2, 3, 4: mean 2.5, variance 5/3, standard error √(5/3/4) = √(5/12).

    Quantiles lie at 1 + 3·0.05 = 1.15, 2.5 and 1 + 3·0.95 = 3.85.
    """
    rows = {row.measure: row for row in summary(some_scores([4, 1, 3, 2, math.nan]))}
    assert list(rows) == [field.name for field in fields(Scores)]
    row = rows["ndcg"]
    assert (row.trials, row.mean, row.median) == (4, 2.5, 2.5)
    assert row.std_error == pytest.approx((5 / 12) ** 0.5)
    assert row.low == pytest.approx(1.15)
    assert row.high == pytest.approx(3.85)
    assert rows["recall_queries_10"].trials == 0
    assert math.isnan(rows["recall_queries_10"].mean)


def test_one_trial_has_no_standard_error() -> None:
    row = next(row for row in summary(some_scores([0.5])) if row.measure == "ndcg")
    assert (row.mean, row.low, row.high) == (0.5, 0.5, 0.5)
    assert math.isnan(row.std_error)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_a_summary_is_in_order_and_does_not_depend_on_it(ndcgs: list[float]) -> None:
    row, backwards = (summary(some_scores(values))[4] for values in (ndcgs, ndcgs[::-1]))
    assert row.measure == "ndcg"
    assert min(ndcgs) <= row.low <= row.median <= row.high <= max(ndcgs)
    assert row.mean == pytest.approx(backwards.mean)
    assert row.median == backwards.median


def test_tables_have_a_null_where_there_is_no_value() -> None:
    scores = some_scores([0.5, math.nan])
    table = trial_table(scores)
    assert table.column_names == ["trial", *(field.name for field in fields(Scores))]
    assert table["trial"].to_pylist() == [0, 1]
    assert table["ndcg"].to_pylist() == [0.5, None]
    measures = summary_table(summary(scores))
    assert measures.num_rows == len(fields(Scores))
    assert measures["std_error"].null_count > 0


def test_the_margin_of_few_trials_is_students() -> None:
    """By the normal law three trials would miss the mean in one case of five instead of twenty."""
    few = summary_of("ndcg", np.array([1.0, 2.0, 3.0]))
    assert few.margin == pytest.approx(4.302653 * few.std_error, rel=1e-6)
    assert math.isnan(summary_of("ndcg", np.array([1.0])).margin)
