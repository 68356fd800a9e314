"""The table of the most popular queries."""

import numpy as np
import pytest

from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.reproduction.published import published
from blender_dp.evaluation.reproduction.top_queries import (
    COLUMNS,
    most_popular,
    regressions,
    top_queries,
)
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.trials import Experiment

TABLE = published()[9].table


@pytest.mark.parametrize("column", COLUMNS)
def test_regressions_are_those_that_the_paper_marks(column: str) -> None:
    """The paper does not define them; its own table is the definition."""
    marked = [column in row["regressions"] for row in TABLE]
    assert regressions([row[column] for row in TABLE]) == marked


def test_queries_that_are_not_listed_are_passed_over() -> None:
    assert regressions([0.9, 0.2, None, 0.1, None, 0.15]) == [*[False] * 5, True]
    assert regressions([0.9, None, 0.2]) == [False] * 3


def popular_log() -> CodedLog:
    """Return a log of 12 queries, the first one asked most often, with two URLs each."""
    query = np.repeat(np.arange(12), 150 * np.arange(12, 0, -1))
    return CodedLog.of(np.arange(len(query)), query, np.arange(len(query)) % 2)


def test_the_most_popular_come_first() -> None:
    assert most_popular(popular_log(), 3).tolist() == [0, 1, 2]


def test_columns_of_a_trial_agree_with_each_other_and_with_the_truth() -> None:
    log = popular_log()
    experiment = Experiment(
        parameters=Parameters(epsilon=12, delta=1e-3, preset="paper"), opt_in=0.5
    )
    rows = top_queries(log, experiment.result(log, 0))["rows"]
    assert len(rows) == 10
    shares = np.arange(12, 0, -1) / 78
    assert [row["truth"] for row in rows[1:]] == pytest.approx(shares[:9].tolist())
    for row in rows:
        assert row["client_queries"] == pytest.approx(row["client_records"])
        assert row["blended"] == pytest.approx(row["truth"], abs=0.02)
        low, high = sorted((row["opt_in"], row["client_queries"]))
        assert low - 0.01 <= row["blended"] <= high + 0.01


def test_a_query_that_is_not_listed_has_its_truth_and_no_estimate() -> None:
    log = popular_log()
    few = Parameters(epsilon=12, delta=1e-3, head_list_size=3)
    rows = top_queries(log, Experiment(parameters=few, opt_in=0.5).result(log, 0))["rows"]
    unlisted = [row for row in rows if row["blended"] is None]
    assert len(unlisted) == 10 - 4
    assert all(row["truth"] > 0 and row["client_records"] is None for row in unlisted)
