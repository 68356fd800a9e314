"""A plan: what it holds, what it answers, what it refuses."""

import json
import math
from typing import Any

import numpy as np
import pytest

import blender_dp as bdp
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.planning.imagined_users import ImaginedPopulation
from blender_dp.planning.prediction import MOST_ROWS, Setting, predict
from blender_dp.planning.prior import prior_like
from blender_dp.planning.targets import Answer, Target, Varied, require_reached, varying

SMALL: dict[str, Any] = {
    "users": 40_000,
    "epsilon": 3.0,
    "delta": 1e-5,
    "like": "zipf:1.1",
    "draws": 3,
}


def test_the_same_seed_makes_the_same_plan() -> None:
    assert bdp.plan(**SMALL) == bdp.plan(**SMALL)
    assert bdp.plan(**SMALL) != bdp.plan(**SMALL, seed=1)


def test_a_plan_is_plain_json() -> None:
    made = bdp.plan(**SMALL, target_size=20, curve="epsilon")
    document = json.loads(json.dumps(made.document(), allow_nan=False))
    measures = document["measures"]
    assert measures["queries"]["low"] <= measures["queries"]["mean"] <= measures["queries"]["high"]
    assert [point["epsilon"] for point in document["curve"]["points"]] == [
        *(0.6, 1.2, 2.1, 3.0, 4.5, 7.5, 15.0)
    ]
    assert document["choices"]["client_mechanism"] == "subset selection"
    assert document["parameters"]["epsilon"] == 3.0


def test_a_larger_epsilon_and_more_users_list_more() -> None:
    along = bdp.plan(**SMALL, curve="epsilon").curve
    sizes = [point.measures["queries"].mean for point in along]
    assert sizes == sorted(sizes)
    along = bdp.plan(**SMALL, curve="opt_in").curve
    sizes = [point.measures["queries"].mean for point in along]
    assert sizes == sorted(sizes)


def test_an_answer_meets_its_target_and_less_does_not() -> None:
    made = bdp.plan(**SMALL, target_size=30)
    by_users, by_epsilon = made.answers
    assert (by_users.varied, by_epsilon.varied) == ("opt_in", "epsilon")
    prior = prior_like("zipf:1.1")
    for share, enough in ((by_users.nearest, True), (by_users.nearest * 0.8, False)):
        setting = Setting(
            users=40_000, opt_in=share, parameters=Parameters(epsilon=3.0, delta=1e-5)
        )
        size = predict(prior, setting, draws=2).measures["queries"].mean
        assert (size >= 30) == enough
    assert by_users.opt_in_users == round(40_000 * by_users.nearest)
    assert by_epsilon.queries >= 30


def test_an_ndcg_is_asked_of_a_list_worth_the_name() -> None:
    made = bdp.plan(**SMALL, target_ndcg=0.9)
    assert all(answer.ndcg >= 0.9 and answer.queries >= 10 for answer in made.answers)


def test_a_target_out_of_reach_says_what_is_within() -> None:
    with pytest.raises(bdp.BlenderError, match=r"reaches a list of 100,000 .* the best is a list"):
        bdp.plan(**SMALL, target_size=100_000)


def test_the_best_within_reach_is_the_nearest_to_the_target() -> None:
    def answer(varied: Varied, ndcg: float, queries: float, query_l1: float = 0.1) -> Answer:
        return Answer(
            varied=varied,
            value=None,
            nearest=0.5,
            opt_in_users=9,
            ndcg=ndcg,
            queries=queries,
            query_l1=query_l1,
        )

    with pytest.raises(bdp.BlenderError, match=r"the best is a list of 98 .* opt-in share of 0.5"):
        require_reached(
            Target(queries=150), [answer("opt_in", 0.99, 98.0), answer("epsilon", 1.0, 63.0)]
        )
    with pytest.raises(bdp.BlenderError, match=r"an NDCG of 0.99; .* a list of 63 .* an ε of 0.5"):
        require_reached(
            Target(ndcg=0.99, queries=20),
            [answer("opt_in", 0.7, 98.0), answer("epsilon", 0.98, 63.0)],
        )
    refused = r"no relay share reaches .* query L1 of 0.01; .* query L1 of 0.02, at an relay share"
    with pytest.raises(bdp.BlenderError, match=refused.replace("an relay", "a relay")):
        require_reached(
            Target(query_l1=0.01),
            [answer("opt_in", 1.0, 63.0), answer("relay", 1.0, 63.0, query_l1=0.02)],
        )


def test_a_relay_lengthens_the_list_and_lowers_the_errors() -> None:
    made = bdp.plan(**SMALL, relay=0.5)
    assert made.without_relay == bdp.plan(**SMALL).prediction
    here, there = made.prediction.measures, made.without_relay.measures
    assert here["queries"].mean > there["queries"].mean
    for name in ("query_l1", "record_l1", "query_interval", "record_interval"):
        assert here[name].mean < 0.8 * there[name].mean, name
    assert made.prediction.setting.relay_clients == 19_000
    assert made.relay_sentence is not None
    alone = made.prediction.report_epsilon
    assert alone is not None
    assert 3 < alone <= 8
    assert f"collector; ε = {alone:g} if they do." in made.relay_sentence


def test_the_rules_of_a_relay_are_kept_to() -> None:
    rules = bdp.RelayRules(share=0.5, epsilon_cap=4.0)
    capped = bdp.plan(**SMALL, relay=rules)
    assert capped.prediction.report_epsilon == 4.0
    assert capped.document()["relay_rules"] == {
        "share": 0.5,
        "epsilon_cap": 4.0,
        "dishonest": 0.2,
    }


def test_a_curve_along_the_relay_share_begins_without_one() -> None:
    made = bdp.plan(**SMALL, curve="relay")
    assert [point.setting.relay.share for point in made.curve] == [
        *(0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
    ]
    assert made.curve_without_relay == made.curve[:1]
    errors = [point.measures["query_l1"].mean for point in made.curve]
    assert errors[-1] < errors[-2] < errors[-3] < errors[0]


def test_another_curve_is_drawn_with_and_without_the_relay() -> None:
    made = bdp.plan(**SMALL, relay=1.0, curve="epsilon")
    assert len(made.curve) == len(made.curve_without_relay) == 7
    for here, there in zip(made.curve, made.curve_without_relay, strict=True):
        assert there.setting == here.setting.without_relay()
        is_capped = here.setting.parameters.epsilon > here.setting.relay.epsilon_cap
        is_better = here.measures["query_l1"].mean < there.measures["query_l1"].mean
        assert is_better != is_capped


def test_an_error_is_reached_by_a_relay_share_and_less_does_not() -> None:
    *_, by_relay = bdp.plan(**SMALL, target_l1=0.01).answers
    assert by_relay.varied == "relay"
    assert by_relay.value is not None
    assert by_relay.query_l1 <= 0.01
    setting = Setting(users=40_000, opt_in=0.05, parameters=Parameters(epsilon=3.0, delta=1e-5))
    less = varying(setting, "relay", by_relay.value * 0.7)
    assert predict(prior_like("zipf:1.1"), less, draws=2).measures["query_l1"].mean > 0.01


def test_a_relay_is_no_answer_of_a_preset_that_takes_none() -> None:
    made = bdp.plan(**SMALL, preset="paper", target_l1=0.5)
    assert [answer.varied for answer in made.answers] == ["opt_in", "epsilon"]


def test_a_target_that_one_knob_reaches_is_answered_for_the_other_too() -> None:
    by_users, by_epsilon = bdp.plan(**(SMALL | {"users": 20_000}), target_size=80).answers
    assert by_users.value is not None
    assert by_epsilon.value is None
    assert by_epsilon.queries < 80


def test_the_paper_preset_gets_its_fractions_chosen() -> None:
    made = bdp.plan(**SMALL, preset="paper")
    assert 0 < (made.choices.head_list_user_fraction or 0) < 1
    assert 0 < (made.choices.query_budget_fraction or 0) < 1
    assert (made.choices.query_share, made.prediction.branch) == (None, None)


def test_many_records_a_user_are_found_by_weights() -> None:
    made = bdp.plan(users=60_000, epsilon=4.0, delta=1e-5, like="aol", draws=2)
    assert made.prediction.branch == "gauss"
    assert "Gaussian" in made.choices.discovery


def test_the_list_is_trimmed_to_what_is_asked() -> None:
    made = bdp.plan(**SMALL, head_list_size=5)
    assert made.prediction.measures["queries"].mean == 5
    assert made.choices.head_list_size == 5


def test_a_hopeless_collection_is_predicted_to_find_nothing() -> None:
    made = bdp.plan(users=200, epsilon=0.5, delta=1e-6, like="zipf:0.5", draws=2)
    assert made.prediction.measures["queries"].mean == 0
    assert math.isnan(made.prediction.measures["query_interval"].mean)
    assert made.document()["measures"]["query_interval"]["mean"] is None


def test_more_users_than_can_be_drawn_are_scaled_and_remarked_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("blender_dp.planning.prediction.MOST_ROWS", 1_000)
    made = bdp.plan(**SMALL)
    assert made.prediction.imagined_users == 20_000
    assert "20,000 of the 40,000 users" in made.remarks[1]
    assert "δ = 1e-05 is large for 40,000 users" in made.remarks[2]
    assert MOST_ROWS > 1_000


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"users": 0}, "users"),
        ({"users": 10**12}, "users"),
        ({"opt_in": 1.0}, "opt_in"),
        ({"opt_in": 0.00001}, "opt_in"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"like": "nothing"}, "like"),
        ({"target_ndcg": 1.5}, "target_ndcg"),
        ({"target_size": 0}, "target_size"),
        ({"target_l1": 0.0}, "target_l1"),
        ({"relay": 1.5}, "relay"),
        ({"relay": 0.5, "preset": "paper"}, "relay"),
        ({"curve": "relay", "preset": "paper"}, "relay"),
        ({"draws": 1}, "draws"),
        ({"seed": -1}, "seed"),
        ({"curve": "users"}, "curve"),
    ],
)
def test_bad_input_is_refused_by_name(changed: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        bdp.plan(**(SMALL | changed))
    assert refusal.value.name == name


def test_the_truth_of_imagined_users_is_that_of_their_records() -> None:
    """With one record each, the truth is counted: whole users, all of them."""
    population = ImaginedPopulation.draw(
        prior_like("zipf"), opted_in=2_000, clients=30_000, relay_clients=0, seed=5
    )
    head_list = bdp.HeadList.of(
        [population.log.name(code) for code in range(50)],
        mechanism=_paper_mechanism(),
        private=False,
    )
    population.clients.report_counts(head_list)
    users = population.true_cells(head_list) * 32_000
    assert users == pytest.approx(np.rint(users), abs=1e-6)
    assert users.sum() == pytest.approx(32_000)


def _paper_mechanism() -> LocalAlgMechanism:
    return LocalAlgMechanism.of(Parameters(epsilon=3.0, delta=1e-5, preset="paper"))


def test_users_all_of_whose_records_are_unlisted_are_no_error() -> None:
    """Shares that are added up to 1 may exceed it by rounding; warnings are errors here."""
    found = bdp.plan(users=1_000, epsilon=1, delta=1e-5, draws=2)
    assert found.prediction.measures["queries"].mean == 0
