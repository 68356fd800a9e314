"""Reproduction of the paper's figures: runs the trials that are missing and reads all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from blender_dp.evaluation.reproduction.data_sets import DataSet
from blender_dp.evaluation.reproduction.figures.drawing.figure import Figure
from blender_dp.evaluation.reproduction.published import Statement, published
from blender_dp.evaluation.reproduction.sweeps import (
    FORMAT,
    SOFTWARE,
    Setting,
    Setup,
    Trial,
    trials_of,
)
from blender_dp.evaluation.reproduction.trial_store import TrialStore
from blender_dp.evaluation.reproduction.verdicts import Answer, Claim, Verdict
from blender_dp.evaluation.trials.worker_pool import work_on

TRIALS = "trials.jsonl"
REPETITIONS = {"aol": 100, "yandex": 40}
"""Trials per point; all of them take 20 to 60 minutes on two cores."""
QUICK_REPETITIONS = 9
"""Trials per point; the fewest whose interval of the median leaves out the extreme trials."""

Told = Callable[[str], None]
Share = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Figures, data set and number of trials of a reproduction."""

    data: DataSet
    setup: Setup
    figures: tuple[Figure, ...]
    repetitions: int

    def trials(self) -> list[Trial]:
        """Return every trial that a figure needs, once, first trials of all points first."""
        needed = [
            trial
            for figure in self.figures
            for trial in figure.trials(self.setup, self.repetitions)
        ]
        return sorted(dict.fromkeys(needed), key=lambda trial: trial.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """Results of all trials, which figures read."""

    plan: Plan
    store: TrialStore
    folder: Path
    trials_run: int
    """Number of trials that were run now."""

    @property
    def setup(self) -> Setup:
        """The paper's choices for this data set."""
        return self.plan.setup

    @property
    def data(self) -> DataSet:
        """The data set."""
        return self.plan.data

    @property
    def repetitions(self) -> int:
        """Number of trials per setting."""
        return self.plan.repetitions

    @property
    def statistics(self) -> dict[str, Any]:
        """Statistics of the data set."""
        found: dict[str, Any] = self.store[_statistics_of(self.data)]
        return found

    @property
    def time(self) -> tuple[int, float] | None:
        """Number of trials that were timed, and their measured seconds; None if none was."""
        if _time_of(self.data) not in self.store:
            return None
        kept = self.store[_time_of(self.data)]
        return kept["trials"], kept["seconds"]

    def outcomes(self, setting: Setting) -> list[Mapping[str, Any]]:
        """Return the scores of a setting's trials."""
        return self.of(trials_of([setting], self.repetitions))

    def of(self, trials: Sequence[Trial]) -> list[Any]:
        """Return the outcomes of these trials."""
        return [self.store[trial.description(self.data.identity)] for trial in trials]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A statement of the paper with its verdict."""

    figure: Figure
    claim: Claim
    statement: Statement
    verdict: Verdict

    @property
    def why(self) -> str:
        """Known reason, if the statement does not hold or stays open."""
        unclear = self.verdict.answer in (Answer.FAILS, Answer.OPEN)
        return self.claim.why if unclear else ""


def run_missing(plan: Plan, folder: Path, *, workers: int, step: Told, share: Share) -> Reproduced:
    """Run the missing trials; each is stored as soon as it is done.

    Args:
        plan: The figures, the data set and the number of trials.
        folder: Folder of the trials.
        workers: Number of processes.
        step: Called with the name of each step when it begins.
        share: Called with the share of the step that is done, from 0 to 1.
    """
    store = TrialStore(folder / TRIALS)
    described = {trial: trial.description(plan.data.identity) for trial in plan.trials()}
    missing = [trial for trial, description in described.items() if description not in store]
    statistics = _statistics_of(plan.data)
    if missing or statistics not in store:
        step("make the log" if plan.data.is_synthetic else "code the log")
        material = plan.data.make()
        if statistics not in store:
            store.add(statistics, material.statistics)
        step(f"run {len(missing):,} trials")
        before = len(store)

        def keep(number: int, outcome: dict[str, Any]) -> None:
            store.add(described[missing[number]], outcome)
            share((len(store) - before) / len(missing))

        begun = monotonic()
        work_on(material.log, [trial.run for trial in missing], workers=workers, finished=keep)
        if missing:
            _add_time(store, plan.data, len(missing), monotonic() - begun)
    return Reproduced(plan=plan, store=store, folder=folder, trials_run=len(missing))


def _add_time(store: TrialStore, data: DataSet, trials: int, seconds: float) -> None:
    """Add the measured time of some trials to that of all earlier ones."""
    key = _time_of(data)
    if key in store:
        trials, seconds = trials + store[key]["trials"], seconds + store[key]["seconds"]
    store.add(key, {"trials": trials, "seconds": seconds})


def _time_of(data: DataSet) -> dict[str, Any]:
    """Describe the measured time of the trials, which is stored like a trial."""
    return {"format": FORMAT, "software": SOFTWARE, "kind": "time", "data": data.identity}


def judge(figure: Figure, content: Any, setup: Setup) -> list[Judged]:  # noqa: ANN401 - panels or a table
    """Check a figure's claims with its results."""
    if figure.number is None:
        return []
    said = published()[figure.number]
    return [
        Judged(
            figure=figure,
            claim=claim,
            statement=said.statement(claim.statement),
            verdict=_verdict(claim, said.statement(claim.statement), content, setup),
        )
        for claim in figure.claims
    ]


def _verdict(claim: Claim, statement: Statement, content: Any, setup: Setup) -> Verdict:  # noqa: ANN401 - panels or a table
    if setup.shape not in statement.shapes:
        return Verdict(Answer.ELSEWHERE, f"not run here: see --shape {statement.shapes[0]}")
    return claim.check(content)


def _statistics_of(data: DataSet) -> dict[str, Any]:
    """Describe the statistics of the data set, which are stored like a trial."""
    return {
        "format": FORMAT,
        "software": SOFTWARE,
        "kind": "statistics",
        "data": data.identity,
    }
