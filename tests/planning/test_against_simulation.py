"""A plan against the algorithm on whole logs that the plan has not seen.

Seeds are fixed, so nothing here fails by chance; benchmarks/planning.md has a larger grid. List
sizes are held to 10 % and L1 to 20 %, what was asked for. With four runs a simulated mean is
itself off by a few per cent, which the bounds leave room for.
"""

from collections.abc import Sequence
from functools import cache
from statistics import mean

import pytest

from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.scores import Scores
from blender_dp.evaluation.trials.trials import Experiment, run_trials
from blender_dp.planning.plan import plan
from blender_dp.planning.prediction import Prediction, Setting, predict
from blender_dp.planning.prior import prior_like

pytestmark = pytest.mark.slow  # together
USERS, RUNS, DELTA = 150_000, 6, 1e-5
GRID = (
    (Shape.AOL_SINGLE, 2.0, 0.1),
    (Shape.AOL_SINGLE, 4.0, 0.05),
    (Shape.AOL_MULTI, 1.0, 0.1),
    (Shape.AOL_MULTI, 4.0, 0.02),
    (Shape.ZIPF, 1.0, 0.05),
    (Shape.ZIPF, 4.0, 0.02),
)
RELAYED = (
    (Shape.AOL_SINGLE, 4.0, 0.05, 0.5),
    (Shape.AOL_SINGLE, 1.0, 0.1, 1.0),
    (Shape.AOL_MULTI, 4.0, 0.05, 0.5),
    (Shape.AOL_MULTI, 1.0, 0.1, 1.0),
    (Shape.ZIPF, 2.0, 0.05, 0.1),
)
"""Settings with a relay; the last number is its share of the clients."""


@cache
def coded(shape: Shape) -> CodedLog:
    log = synthesize(shape, users=USERS, seed=7)
    return CodedLog.of(log.user, log.query, log.url)


@cache
def simulated(
    shape: Shape, epsilon: float, opt_in: float, preset: Preset, relay: float = 0.0
) -> Sequence[Scores]:
    parameters = Parameters(epsilon=epsilon, delta=DELTA, preset=preset)
    experiment = Experiment(
        parameters=parameters,
        opt_in=opt_in,
        relay=RelayRules(share=relay),
        repetitions=RUNS,
        seed=3,
    )
    return run_trials(coded(shape), experiment, workers=1)


def predicted(shape: Shape, epsilon: float, opt_in: float, relay: float = 0.0) -> Prediction:
    parameters = Parameters(epsilon=epsilon, delta=DELTA)
    rules = RelayRules(share=relay)
    setting = Setting(users=USERS, opt_in=opt_in, parameters=parameters, relay=rules)
    return predict(prior_like(str(shape)), setting, draws=24)


@pytest.mark.parametrize(("shape", "epsilon", "opt_in"), GRID)
def test_list_size_and_l1_are_predicted(shape: Shape, epsilon: float, opt_in: float) -> None:
    scores = simulated(shape, epsilon, opt_in, "sharp")
    measures = predicted(shape, epsilon, opt_in).measures
    for name, within in (("queries", 0.1), ("records", 0.1), ("query_l1", 0.2), ("record_l1", 0.2)):
        found = mean(float(getattr(one, name)) for one in scores)
        assert measures[name].mean == pytest.approx(found, rel=within), name
    assert measures["ndcg"].mean == pytest.approx(mean(one.ndcg for one in scores), abs=0.01)


@pytest.mark.parametrize(("shape", "epsilon", "opt_in", "relay"), RELAYED)
def test_errors_with_a_relay_are_predicted(
    shape: Shape, epsilon: float, opt_in: float, relay: float
) -> None:
    scores = simulated(shape, epsilon, opt_in, "sharp", relay)
    measures = predicted(shape, epsilon, opt_in, relay).measures
    for name, within in (("queries", 0.1), ("records", 0.1), ("query_l1", 0.2), ("record_l1", 0.2)):
        found = mean(float(getattr(one, name)) for one in scores)
        assert measures[name].mean == pytest.approx(found, rel=within), name


@pytest.mark.parametrize("other", [0.15, 0.9])
def test_another_relay_share_is_told_apart(other: float) -> None:
    """The test above has teeth: a plan for another share is not within its bounds."""
    scores = simulated(Shape.AOL_MULTI, 4.0, 0.05, "sharp", 0.5)
    found = mean(one.query_l1 for one in scores)
    off = predicted(Shape.AOL_MULTI, 4.0, 0.05, other).measures["query_l1"].mean
    assert off != pytest.approx(found, rel=0.2)


@pytest.mark.parametrize("other", [1.4, 1 / 1.4])
def test_another_epsilon_is_told_apart(other: float) -> None:
    """The test above has teeth: a plan for another ε is not within its bounds."""
    found = mean(one.queries for one in simulated(Shape.AOL_SINGLE, 4.0, 0.05, "sharp"))
    off = predicted(Shape.AOL_SINGLE, 4.0 * other, 0.05).measures["queries"].mean
    assert off != pytest.approx(found, rel=0.1)


def test_the_paper_preset_is_predicted() -> None:
    scores = simulated(Shape.AOL_SINGLE, 4.0, 0.05, "paper")
    made = plan(users=USERS, epsilon=4.0, delta=DELTA, like="aol-single", preset="paper", draws=8)
    # The simulation has the default f_O of 0.95: compare at that one.
    chosen = made.choices.head_list_user_fraction
    assert chosen is not None
    longest = mean(one.queries for one in scores)
    assert made.prediction.measures["queries"].mean <= longest * 1.1
    assert made.prediction.measures["record_l1"].mean <= mean(o.record_l1 for o in scores) * 1.05
