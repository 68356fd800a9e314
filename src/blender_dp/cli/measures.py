"""Measures over many runs, as a table for a person."""

import math
from collections.abc import Sequence

from rich.table import Table

from blender_dp.cli.terminal import RESULTS
from blender_dp.evaluation.trials.summary import MeasureSummary


def print_measures(measures: Sequence[MeasureSummary]) -> None:
    """Print one line per measure; none for relay clients if there are none."""
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("measure", no_wrap=True)
    for heading in ("mean ± 95 %", "median", "5 to 95 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in measures:
        if row.trials == 0 and row.measure.endswith(("_relay", "_relay_weight")):
            continue
        table.add_row(
            row.measure,
            f"{_number(row.mean)} ± {_number(row.margin, digits=2)}",
            _number(row.median),
            f"{_number(row.low)} to {_number(row.high)}",
        )
    RESULTS.print(table)


def _number(value: float, digits: int = 4) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}g}"
