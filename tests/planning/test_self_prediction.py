"""A release planned at its own parameters predicts itself, on six shapes unlike AOL's.

Seeds are fixed, so nothing here fails by chance; benchmarks/self_prediction.md has more logs and
settings.
"""

from dataclasses import replace

import pytest

from benchmarks.self_prediction import MEASURES, SIX_SHAPES, coded, planned, released
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import ListOf, Parameters
from blender_dp.evaluation.trials.trials import Experiment
from blender_dp.planning.plan import plan
from blender_dp.planning.prediction import Setting, predict
from blender_dp.planning.release_prior import prior_of_release

USERS, OPT_IN, EPSILON = 40_000, 0.1, 4.0


@pytest.mark.parametrize("shape", SIX_SHAPES)
def test_a_release_predicts_itself(shape: str) -> None:
    one = planned(shape, USERS, OPT_IN, EPSILON, seed=11)
    for measure in MEASURES:
        assert one.is_within(measure), (measure, one.predicted[measure], one.found[measure])
    assert one.is_covered("queries")
    assert one.is_covered("records")


@pytest.mark.parametrize("factor", [0.6, 1.6])
def test_another_threshold_is_told_apart(factor: float) -> None:
    """The test above has teeth: with a wrong rule a release does not predict itself."""
    experiment = Experiment(
        parameters=Parameters(epsilon=EPSILON, delta=1e-5), opt_in=OPT_IN, seed=12
    )
    release, scores = released(coded("ten records each", USERS, 11), experiment)
    assert release.discovery is not None
    rule = replace(release.discovery, threshold=factor * release.discovery.threshold)
    wrong = replace(release, discovery=rule)
    made = plan(users=USERS, opt_in=OPT_IN, epsilon=EPSILON, delta=1e-5, like=wrong)
    assert made.prediction.measures["records"].mean != pytest.approx(scores.records, rel=0.15)


def test_a_trimmed_release_predicts_what_was_found_before() -> None:
    parameters = Parameters(epsilon=EPSILON, delta=1e-5, head_list_size=8)
    experiment = Experiment(parameters=parameters, opt_in=OPT_IN, seed=13)
    release, _ = released(coded("one record each", USERS, 11), experiment)
    made = plan(users=USERS, opt_in=OPT_IN, epsilon=EPSILON, delta=1e-5, like=release)
    assert release.discovery is not None
    found = release.discovery.candidate_queries
    assert found > 2 * len(release.listed_queries())
    assert made.prediction.measures["queries"].mean == pytest.approx(found, rel=0.15)


def test_a_release_of_paper_predicts_its_queries_at_its_own_fractions() -> None:
    """A plan chooses the fractions anew, so it predicts another list than the one it is from."""
    parameters = Parameters(epsilon=EPSILON, delta=1e-5, preset="paper")
    experiment = Experiment(parameters=parameters, opt_in=OPT_IN, seed=15)
    release, scores = released(coded("one record each", USERS, 11), experiment)
    setting = Setting(users=USERS, opt_in=OPT_IN, parameters=parameters)
    made = predict(prior_of_release(release), setting)
    assert made.measures["queries"].mean == pytest.approx(scores.queries, rel=0.15)


@pytest.mark.parametrize("shape", ["fifty flat URLs per query", "ten records each"])
def test_a_list_of_queries_predicts_itself(shape: str) -> None:
    parameters = Parameters(epsilon=EPSILON, delta=1e-5, list_of="queries")
    experiment = Experiment(parameters=parameters, opt_in=OPT_IN, seed=14)
    release, scores = released(coded(shape, USERS, 11), experiment)
    assert release.lists_queries
    made = plan(users=USERS, opt_in=OPT_IN, epsilon=EPSILON, delta=1e-5, like=release)
    measures = made.prediction.measures
    assert scores.queries > 30
    assert measures["queries"].mean == pytest.approx(scores.queries, rel=0.15)
    assert measures["query_l1"].mean == pytest.approx(scores.query_l1, rel=0.25)
    assert measures["ndcg"].mean > 0.99
    assert "Queries are listed, without URLs." in made.remarks
    others: tuple[ListOf, ...] = ("records", "auto")
    for other in others:
        with pytest.raises(ParameterError, match="says nothing of URLs"):
            plan(users=USERS, epsilon=EPSILON, delta=1e-5, like=release, list_of=other)
