"""Settings of the paper's figures: its defaults, and the sweeps around them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from blender_dp.core.head_list.cells import FloatArray
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.evaluation.reproduction.top_queries import top_queries
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.trials import Experiment

FORMAT = 1
"""Version of a trial's description and outcome. Raise it when the meaning of either changes."""

SOFTWARE = version("blender-dp")

SEED = 0
"""Seed of all trials, used together with each trial's number."""

Kind = Literal["scores", "top queries"]
DataShape = Literal["aol", "yandex"]

DATA_NAMES: dict[DataShape, str] = {"aol": "AOL", "yandex": "Yandex"}
OPT_IN_SHARES = tuple(percent / 100 for percent in range(1, 11))
EPSILONS = tuple(float(epsilon) for epsilon in range(1, 7))
TINY_SHARES = tuple(tenths / 1000 for tenths in range(1, 11))
BUDGET_SPLITS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One point of a sweep: all that its trials have in common."""

    parameters: Parameters
    opt_in: float

    def experiment(self) -> Experiment:
        """Return the experiment of this setting."""
        return Experiment(parameters=self.parameters, opt_in=self.opt_in, seed=SEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The paper's choices for one of its data sets (Fig. 11 and section 4.3)."""

    shape: DataShape
    delta: float
    opt_in: float
    head_list_size: int
    list_sizes: tuple[int, ...]
    """List sizes of the lines of Figs. 13 to 16."""
    groups_list_size: int
    """List size of Fig. 17."""
    tiny_list_sizes: tuple[int, ...]
    """List sizes of the lines of Fig. 18."""
    tiny_groups_list_size: int
    """List size of Fig. 19."""
    epsilon: float = 4.0
    preset: Preset = "paper"

    def setting(self, *, opt_in: float | None = None, **changes: Any) -> Setting:  # noqa: ANN401 - any of the parameters
        """Return the defaults with some of them changed."""
        defaults = Parameters(
            epsilon=self.epsilon,
            delta=self.delta,
            head_list_size=self.head_list_size,
            preset=self.preset,
        )
        return Setting(
            parameters=replace(defaults, **changes),
            opt_in=self.opt_in if opt_in is None else opt_in,
        )


SETUPS: dict[DataShape, Setup] = {
    "aol": Setup(
        shape="aol",
        delta=1e-5,
        opt_in=0.05,
        head_list_size=50,
        list_sizes=(10, 25, 50),
        # The paper has no such figures for AOL; this number of opt-in users can reach these sizes.
        groups_list_size=25,
        tiny_list_sizes=(2, 3, 5),
        tiny_groups_list_size=5,
    ),
    "yandex": Setup(
        shape="yandex",
        delta=1e-7,
        opt_in=0.03,
        head_list_size=500,
        list_sizes=(10, 50, 100, 500),
        groups_list_size=100,
        tiny_list_sizes=(10, 50, 100),
        tiny_groups_list_size=10,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of one setting, with a description and an outcome."""

    setting: Setting
    number: int
    """Decides the random bits; equal in all settings, so that settings are compared pairwise."""
    kind: Kind = "scores"

    def description(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return all that the outcome depends on; ``data`` is the data set's identity."""
        return {
            "format": FORMAT,
            "software": SOFTWARE,
            "kind": self.kind,
            "data": dict(data),
            "parameters": self.setting.parameters.document(),
            "opt_in": self.setting.opt_in,
            "seed": SEED,
            "number": self.number,
        }

    def run(self, log: CodedLog) -> dict[str, Any]:
        """Return the outcome as a document; null where a measure has no value."""
        experiment = self.setting.experiment()
        if self.kind == "scores":
            return _nulled(asdict(experiment.trial(log, self.number)))
        return top_queries(log, experiment.result(log, self.number))


def trials_of(settings: Iterable[Setting], repetitions: int, kind: Kind = "scores") -> list[Trial]:
    """Return the trials of all settings, each setting once, first trials first.

    So an interrupted run has some trials of every point, not all trials of a few points.
    """
    distinct = dict.fromkeys(settings)
    return [
        Trial(setting=setting, number=number, kind=kind)
        for number in range(repetitions)
        for setting in distinct
    ]


def values_of(outcomes: Iterable[Mapping[str, Any]], measure: str) -> FloatArray:
    """Return one measure of many outcomes; NaN where there is no value."""
    return np.array(
        [math.nan if outcome[measure] is None else outcome[measure] for outcome in outcomes],
        dtype=np.float64,
    )


def _nulled(measures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in measures.items()
    }
