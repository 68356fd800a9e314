"""Evaluation from Python: many runs on one log, each compared with the truth in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from blender_dp.analysis.tables import html_table, one_of, to_pandas, to_polars
from blender_dp.core.blender import no_progress
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.engine.duckdb.readers import LogColumns
from blender_dp.engine.log import Log, Workspace
from blender_dp.evaluation.trials.log_codes import coded
from blender_dp.evaluation.trials.scores import Scores
from blender_dp.evaluation.trials.summary import MeasureSummary, summary, summary_table, trial_table
from blender_dp.evaluation.trials.trials import Experiment, run_trials

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Level = Literal["measures", "trials"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evaluation:
    """Scores of many runs on one log. Not private: they compare with the raw records."""

    experiment: Experiment
    users: int
    """Number of users of the log."""
    scores: tuple[Scores, ...]
    """One per run."""

    @property
    def measures(self) -> pa.Table:
        """One row per measure: its mean with standard error, median and quantiles."""
        return summary_table(self._summary())

    @property
    def trials(self) -> pa.Table:
        """One row per run, one column per measure."""
        return trial_table(self.scores)

    def to_pandas(self, level: Level = "measures") -> "pd.DataFrame":
        """Return the measures, or the runs, as a frame of pandas; it must be installed."""
        return to_pandas(self._table(level), "to_pandas()")

    def to_polars(self, level: Level = "measures") -> "pl.DataFrame":
        """Return the measures, or the runs, as a frame of polars; it must be installed."""
        return to_polars(self._table(level), "to_polars()")

    def _table(self, level: Level) -> pa.Table:
        chosen = one_of("level", level, ("measures", "trials"))
        return self.measures if chosen == "measures" else self.trials

    def _summary(self) -> list[MeasureSummary]:
        return summary(self.scores)

    def __repr__(self) -> str:
        return f"<Evaluation: {self._sentence()}>"

    def _repr_html_(self) -> str:
        rows = [
            (row.measure, *(_number(value) for value in (row.mean, row.std_error, row.median)))
            for row in self._summary()
            if row.trials
        ]
        header = ("measure", "mean", "standard error", "median")
        return html_table(header, rows, above=self._sentence())

    def _sentence(self) -> str:
        parameters = self.experiment.parameters
        return (
            f"{len(self.scores)} runs on a log of {self.users:,} users, "
            f"{self.experiment.opt_in:g} of them opted in; ε = {parameters.epsilon:g}, "
            f"δ = {parameters.delta:g}; compared with the truth, not private"
        )


def evaluate(  # noqa: PLR0913 - the public call
    log: str | Path | Sequence[str | Path] | Log | Any,  # noqa: ANN401 - a table of any library
    parameters: Parameters,
    *,
    user: str = "user",
    query: str = "query",
    url: str | None = "url",
    opt_in: float = 0.05,
    relay: RelayRules | float = 0.0,
    repetitions: int = 20,
    seed: int = 0,
    workers: int = 1,
    workspace: Workspace | None = None,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Run many times on a log of raw records and compare every result with the truth.

    Not private: the scores compare with the raw records. For experiments, not for release.

    Args:
        log: Files or a table, as for ``run``.
        parameters: The promise and the tuning parameters.
        user: Column with the user's id.
        query: Column with the query, or any first level.
        url: Column with the URL, or any second level; None if records have one level.
        opt_in: The share of users who opt in; they are drawn again in every run.
        relay: The share of the clients who use the relay, or :class:`RelayRules`.
        repetitions: Number of runs.
        seed: Decides every run.
        workers: Processes. A script that asks for several needs ``if __name__ == "__main__":``.
        workspace: Memory and disk for reading the log.
        progress: Called with the number of runs that are done.
    """
    if not isinstance(parameters, Parameters):
        raise ParameterError("parameters", "Parameters", type(parameters).__name__)
    experiment = Experiment(
        parameters=parameters,
        opt_in=opt_in,
        relay=relay if isinstance(relay, RelayRules) else RelayRules(share=relay),
        repetitions=repetitions,
        seed=seed,
    )
    described = Log.of(log, LogColumns(user=user, query=query, url=url))
    found = coded(described, workspace or Workspace())
    scores = run_trials(found, experiment, workers=workers, progress=progress or no_progress)
    return Evaluation(experiment=experiment, users=found.users, scores=tuple(scores))


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4g}"
