"""Trials run once, are kept, and are gone on with after an interruption."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blender_dp.engine.synthetic import Shape
from blender_dp.evaluation.reproduction.data_sets import DataSet, Material, synthetic_data
from blender_dp.evaluation.reproduction.figures import FIGURES, Figure
from blender_dp.evaluation.reproduction.reproduction import (
    QUICK_REPETITIONS,
    REPETITIONS,
    Plan,
    Reproduced,
    judge,
    run_missing,
)
from blender_dp.evaluation.reproduction.sweeps import SETUPS, Trial
from blender_dp.evaluation.reproduction.verdicts import Answer

BY_NAME = {figure.name: figure for figure in FIGURES}
USERS = 2_000


def plan(*names: str, repetitions: int = 2) -> Plan:
    figures = tuple(BY_NAME[name] for name in names)
    data = synthetic_data(Shape.AOL, users=USERS)
    return Plan(data=data, setup=SETUPS["aol"], figures=figures, repetitions=repetitions)


def run(planned: Plan, folder: Path, share: Any = lambda _: None) -> Reproduced:
    return run_missing(planned, folder, workers=1, step=lambda _: None, share=share)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Trial]:
    """Note every trial that runs."""
    noted: list[Trial] = []
    original = Trial.run

    def noting(trial: Trial, log: Any) -> dict[str, Any]:
        noted.append(trial)
        return original(trial, log)

    monkeypatch.setattr(Trial, "run", noting)
    return noted


def unmade(data: DataSet) -> DataSet:
    def make() -> Material:
        pytest.fail("the log was made although nothing was missing")

    return replace(data, make=make)


def test_a_second_run_does_nothing(tmp_path: Path, ran: list[Trial]) -> None:
    planned = plan("qin-comparison", "top-ten")
    first = run(planned, tmp_path)
    assert first.trials_run == len(ran) == 2 * (5 + 1)
    again = run(replace(planned, data=unmade(planned.data)), tmp_path)
    assert again.trials_run == 0
    assert len(ran) == 12
    assert again.of(planned.trials()) == first.of(planned.trials())
    assert again.statistics["users"] == USERS


@pytest.mark.parametrize("done", [1, 5])
def test_an_interrupted_run_goes_on_where_it_was(
    tmp_path: Path, ran: list[Trial], done: int
) -> None:
    planned = plan("qin-comparison")

    def interrupt(share: float) -> None:
        if share >= done / 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(planned, tmp_path, interrupt)
    before = len(ran)
    assert before == done
    reproduced = run(planned, tmp_path)
    assert reproduced.trials_run == 10 - done
    assert len(ran) == len(set(ran)) == 10
    (tmp_path / "at once").mkdir()
    whole = run(planned, tmp_path / "at once")
    assert reproduced.of(planned.trials()) == whole.of(planned.trials())


def test_the_number_of_workers_changes_no_outcome(tmp_path: Path) -> None:
    planned = plan("qin-comparison", repetitions=1)
    for name, workers in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        run_missing(
            planned, tmp_path / name, workers=workers, step=lambda _: None, share=lambda _: None
        )
    one, two = (run(planned, tmp_path / name).of(planned.trials()) for name in ("one", "two"))
    assert one == two


def test_figures_share_trials_and_more_trials_only_add(tmp_path: Path, ran: list[Trial]) -> None:
    run(plan("ndcg-by-epsilon"), tmp_path)
    seen = len(ran)
    assert run(plan("l1-by-epsilon", "qin-comparison"), tmp_path).trials_run == 0
    more = run(plan("ndcg-by-epsilon", repetitions=3), tmp_path)
    assert more.trials_run == seen / 2
    assert {trial.number for trial in ran[seen:]} == {2}


def test_other_data_and_other_parameters_share_nothing(tmp_path: Path) -> None:
    planned = plan("qin-comparison", repetitions=1)
    run(planned, tmp_path)
    other = replace(planned, data=synthetic_data(Shape.AOL, users=USERS, seed=1))
    assert run(other, tmp_path).trials_run == 5
    stricter = replace(planned, setup=replace(SETUPS["aol"], delta=1e-6))
    assert run(stricter, tmp_path).trials_run == 5


def test_the_first_trials_of_all_points_come_first() -> None:
    numbers = [trial.number for trial in plan("ndcg-by-opt-in", "top-ten").trials()]
    assert numbers == sorted(numbers)


def test_progress_ends_at_one_and_never_goes_back(tmp_path: Path) -> None:
    shares = list[float]()
    run(plan("qin-comparison"), tmp_path, shares.append)
    assert shares == sorted(shares)
    assert (len(shares), shares[-1]) == (10, 1)


def test_a_statement_about_the_other_log_says_which_command_answers_it(tmp_path: Path) -> None:
    reproduced = run(plan("ndcg-by-opt-in", repetitions=1), tmp_path)
    figure: Figure = BY_NAME["ndcg-by-opt-in"]
    answers = {
        one.statement.id: one.verdict
        for one in judge(figure, figure.find(reproduced), reproduced.setup)
    }
    assert answers["above-95-at-1-percent"] == (
        Answer.ELSEWHERE,
        "not run here: see --shape yandex",
    )
    assert answers["above-95-at-5-percent"].answer is Answer.OPEN  # 2,000 users list nothing


def test_quick_trials_are_the_first_of_the_whole() -> None:
    assert 6 <= QUICK_REPETITIONS < min(REPETITIONS.values())
