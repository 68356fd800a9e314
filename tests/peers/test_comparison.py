"""Methods in processes of their own, on the users and records of an evaluation."""

import sys
from functools import cache

import numpy as np
import pytest

from benchmarks.peers import opendp
from benchmarks.peers.comparison import (
    Comparison,
    Row,
    compare,
    records_of_top_queries,
)
from benchmarks.peers.hybrid import hybrid
from benchmarks.peers.list_scores import score_list
from benchmarks.peers.pure_ldp import PEERS as PURE_LDP
from blender_dp.core.errors import MissingExtraError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation, coins_of_trial

CENTRAL = opendp.PEERS[:2]
COMPARISON = Comparison(epsilons=(4.0,), delta=1e-3, opt_in=0.2, known_queries=20, seed=6)


@cache
def log() -> CodedLog:
    made_up = synthesize(Shape.AOL, users=4_000, seed=1)
    return CodedLog.of(made_up.user, made_up.query, made_up.url)


@cache
def rows() -> list[Row]:
    """Compare on a few thousand users, with what is installed for development."""
    return compare(log(), COMPARISON, (hybrid("paper"), *CENTRAL))


def test_every_method_has_a_row_with_its_users_and_its_cost() -> None:
    assert [row.users for row in rows()] == [4_000, 800, 4_000]
    for row in rows():
        assert 0 <= row.scores.queries <= 10
        assert 0 <= row.scores.ndcg_against_best <= 1
        assert row.cost.cpu_seconds > 0
        assert row.cost.peak_mb > 10


def test_a_process_of_its_own_changes_nothing() -> None:
    ((_, task),) = COMPARISON.tasks(log())
    here = score_list(hybrid("paper").find(task), log(), 10)
    assert here == rows()[0].scores
    assert here.queries > 0


def test_a_curator_of_everybody_finds_the_most_popular_query() -> None:
    """It has 84 of 4,000 users; the threshold hides 61 of them once in e^(2 * 50) runs."""
    assert rows()[2].scores.recall > 0


def test_the_users_are_those_of_an_evaluation_with_the_same_seed() -> None:
    ((_, task),) = COMPARISON.tasks(log())
    groups, _ = coins_of_trial(6, 0)
    population = CodedPopulation.draw(
        log(), opt_in=0.2, seed=groups, randomness=Randomness.seeded(0)
    )
    np.testing.assert_array_equal(task.opt_in, population.opt_in.drawn)
    assert population.clients.size == len(task.clients)


def test_oracles_are_told_every_record_of_the_most_popular_queries() -> None:
    known = records_of_top_queries(log(), 20)
    probability = log().query_probability()
    told = np.unique(log().query[known])
    assert len(told) == 20
    assert probability[told].min() >= np.delete(probability, told).max()
    others = np.delete(log().query, known)
    assert not set(others.tolist()) & set(told.tolist())


def test_a_missing_package_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pure_ldp.frequency_oracles", None)
    started = list[str]()
    with pytest.raises(MissingExtraError, match="peers"):
        compare(
            log(),
            COMPARISON,
            (hybrid("paper"), PURE_LDP[0]),
            progress=lambda name, *_: started.append(name),
        )
    assert not started


@pytest.mark.parametrize(
    ("setting", "value"),
    [("epsilons", (0.0,)), ("opt_in", 1.0), ("repetitions", 0), ("known_queries", 0), ("seed", -1)],
)
def test_settings_out_of_range_are_refused(setting: str, value: object) -> None:
    settings = {"epsilons": (1.0,), "delta": 1e-5, setting: value}
    with pytest.raises(ParameterError):
        Comparison(**settings)  # type: ignore[arg-type]
