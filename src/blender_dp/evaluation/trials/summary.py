"""Summary of many trials, and tables of trials and summaries."""

import math
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields

import numpy as np
import pyarrow as pa

from blender_dp.core.head_list.cells import FloatArray
from blender_dp.evaluation.trials.scores import Scores
from blender_dp.evaluation.trials.student import student_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSummary:
    """One measure over the trials in which it has a value; NaN if it has none."""

    measure: str
    trials: int
    """Number of trials in which it has a value."""
    mean: float
    std_error: float
    """Standard error of the mean; needs two trials."""
    low: float
    """The 5 % quantile."""
    median: float
    high: float
    """The 95 % quantile."""

    @property
    def margin(self) -> float:
        """Half the 95 % interval of the mean, by Student's t; NaN below two trials."""
        if self.trials < 2:
            return math.nan
        return student_quantile(0.95, self.trials - 1) * self.std_error


def summary(scores: Sequence[Scores]) -> list[MeasureSummary]:
    """Return one row per measure, in the order of :class:`Scores`."""
    columns = np.array([astuple(trial) for trial in scores], dtype=np.float64).T
    return [
        summary_of(field.name, values[~np.isnan(values)])
        for field, values in zip(fields(Scores), columns, strict=True)
    ]


def summary_of(measure: str, values: FloatArray) -> MeasureSummary:
    """Return the summary of one measure."""
    n = len(values)
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95]) if n else (math.nan,) * 3
    return MeasureSummary(
        measure=measure,
        trials=n,
        mean=float(values.mean()) if n else math.nan,
        std_error=float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan,
        low=float(low),
        median=float(median),
        high=float(high),
    )


def trial_table(scores: Sequence[Scores]) -> pa.Table:
    """Return one row per trial, numbered from 0; null where a measure has no value."""
    rows = [{"trial": number, **asdict(trial)} for number, trial in enumerate(scores)]
    return _table(rows)


def summary_table(measures: Sequence[MeasureSummary]) -> pa.Table:
    """Return one row per measure."""
    return _table([asdict(measure) for measure in measures])


def _table(rows: Sequence[dict[str, object]]) -> pa.Table:
    names = list(rows[0])
    return pa.table({n: pa.array([row[n] for row in rows], from_pandas=True) for n in names})
