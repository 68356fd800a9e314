"""What a trial is, and that its name tells it from every other."""

from dataclasses import fields, replace
from typing import Any

import pytest

from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.reproduction import sweeps
from blender_dp.evaluation.reproduction.sweeps import SETUPS, Setting, Trial, trials_of, values_of
from blender_dp.evaluation.reproduction.trial_store import name_of

DATA = {"synthetic": True, "shape": "aol", "users": 10, "seed": 0}
TRIAL = Trial(setting=SETUPS["aol"].setting(), number=0)


def name(trial: Trial, data: dict[str, Any] = DATA) -> str:
    return name_of(trial.description(data))


CHANGES: dict[str, Any] = {
    "epsilon": 3.0,
    "delta": 1e-6,
    "head_list_size": 51,
    "preset": "another",
    "list_of": "queries",
    "estimation_share": 0.05,
    "one_record_each": True,
    "head_list_user_fraction": 0.9,
    "query_budget_fraction": 0.8,
    "records_per_optin_user": 2,
    "records_per_client": 2,
    "project": False,
}


def test_every_parameter_is_tried_below() -> None:
    assert set(CHANGES) >= {"epsilon", "preset"}
    assert {field.name for field in fields(Parameters)} == set(CHANGES)


@pytest.mark.parametrize("parameter", CHANGES)
def test_every_parameter_changes_the_name(parameter: str) -> None:
    described = TRIAL.description(DATA)
    assert described["parameters"].get(parameter) != CHANGES[parameter]
    described["parameters"][parameter] = CHANGES[parameter]
    assert name_of(described) != name(TRIAL)


def test_everything_else_changes_the_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        name(TRIAL),
        name(replace(TRIAL, number=1)),
        name(replace(TRIAL, kind="top queries")),
        name(replace(TRIAL, setting=replace(TRIAL.setting, opt_in=0.06))),
        *(name(TRIAL, {**DATA, key: "another"}) for key in DATA),
        name(TRIAL, {"synthetic": False, "digest": "0", "users": 10}),
    }
    for constant, value in (("FORMAT", 99), ("SOFTWARE", "9"), ("SEED", 1)):
        monkeypatch.setattr(sweeps, constant, value)
        names.add(name(TRIAL))
    assert len(names) == 12


def test_a_description_names_every_field_with_its_value() -> None:
    described = TRIAL.description(DATA)
    assert described["parameters"] == TRIAL.setting.parameters.document()
    assert (described["data"], described["opt_in"], described["number"]) == (DATA, 0.05, 0)
    assert set(described) == {
        *("format", "software", "kind", "data", "parameters", "opt_in", "seed", "number"),
    }


def test_equal_settings_share_their_trials_and_first_trials_come_first() -> None:
    setup = SETUPS["aol"]
    one, other = setup.setting(epsilon=4.0), setup.setting(epsilon=3.0)
    trials = trials_of([one, other, setup.setting()], 2)
    assert [(trial.setting, trial.number) for trial in trials] == [
        *((one, 0), (other, 0), (one, 1), (other, 1))
    ]


def test_the_preset_of_a_setup_reaches_its_settings() -> None:
    """Whatever the default preset is, the figures name theirs."""
    for setup in SETUPS.values():
        assert setup.setting().parameters.preset == "paper"


def test_no_value_is_not_a_number() -> None:
    values = values_of([{"ndcg": None}, {"ndcg": 1}], "ndcg")
    assert str(values.tolist()) == "[nan, 1.0]"


def test_settings_can_be_told_apart_and_compared() -> None:
    setting = SETUPS["yandex"].setting(opt_in=0.01)
    assert setting == Setting(parameters=setting.parameters, opt_in=0.01)
    assert setting.experiment().opt_in == 0.01
