"""Numbers of a reproduction: every figure with its results, for the page and for programs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from blender_dp.evaluation.reproduction.figures.drawing.figure import Figure, Plot, Table
from blender_dp.evaluation.reproduction.reproduction import Judged, Reproduced, judge
from blender_dp.evaluation.reproduction.series import MeasuredPanel, Series
from blender_dp.evaluation.reproduction.sweeps import SOFTWARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One figure with its results."""

    figure: Figure
    content: list[MeasuredPanel] | Table
    judged: list[Judged]
    caption: str
    kind: Literal["synthetic", "real"]
    """Kind of its data, for files that have no caption."""

    @property
    def files(self) -> list[str]:
        """Names of its files."""
        text = (".csv", ".md") if isinstance(self.content, Table) else (".csv",)
        return [f"{self.figure.stem}{ending}" for ending in (".svg", ".png", *text)]


def contents(reproduced: Reproduced, command: str) -> list[Shown]:
    """Return every figure with its results, in order."""
    shown = []
    for figure in reproduced.plan.figures:
        content = figure.find(reproduced)
        shown.append(
            Shown(
                figure=figure,
                content=content,
                judged=judge(figure, content, reproduced.setup),
                caption=_caption(figure, reproduced, command),
                kind="synthetic" if reproduced.data.is_synthetic else "real",
            )
        )
    return shown


def provenance(reproduced: Reproduced) -> str:
    """Return a sentence that describes the data set."""
    data = reproduced.data
    kind = "SYNTHETIC DATA" if data.is_synthetic else "Real data"
    return f"{kind}: {data.title}; preset {reproduced.setup.preset}."


def document_of(reproduced: Reproduced, shown: Sequence[Shown]) -> dict[str, Any]:
    """Return all numbers for a program; null where a number is missing."""
    return {
        "format": "blender-dp reproduction",
        "version": 1,
        "synthetic": reproduced.data.is_synthetic,
        "data": {"title": reproduced.data.title, **reproduced.data.identity},
        "software": SOFTWARE,
        "preset": reproduced.setup.preset,
        "trials_per_point": reproduced.repetitions,
        "claims": [_claim(judged) for one in shown for judged in one.judged],
        "figures": {one.figure.stem: _numbers(one) for one in shown},
    }


def _claim(judged: Judged) -> dict[str, Any]:
    statement = judged.statement
    return {
        "figure": judged.figure.number,
        "statement": statement.id,
        "paper": statement.says,
        "where": statement.where,
        "read": statement.read,
        "ours": judged.verdict.ours,
        "verdict": str(judged.verdict.answer),
        "why": judged.why,
    }


def _numbers(one: Shown) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(one.content, Table):
        table = one.content
        rows = [[cell.text for cell in row] for row in table.rows]
        return {"header": list(table.header), "rows": rows, "note": table.note}
    return [
        {"panel": panel.panel.title, "line": series.label, "points": points_of(series)}
        for panel in one.content
        for series in panel.series
    ]


def points_of(series: Series) -> list[dict[str, Any]]:
    """Return the numbers of a line; null where a number is missing."""
    return [
        {
            "x": point.x,
            "median": _or_null(point.median.value),
            "low": _or_null(point.median.low),
            "high": _or_null(point.median.high),
            "trials": len(point.values),
            "reached": point.reached,
            "shown": point.is_shown,
        }
        for point in series.points
    ]


def _or_null(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _caption(figure: Figure, reproduced: Reproduced, command: str) -> str:
    parts = [provenance(reproduced)]
    if figure.trials(reproduced.setup, 1):
        parts.append(f"{reproduced.repetitions} trials per point.")
    if isinstance(figure, Plot):
        parts.append(
            "Points are medians with exact 95 % intervals; a line stops where fewer than half of "
            "the trials reach the list size."
        )
    parts.append(figure.note)
    parts.append(f"Made by: {command}")
    return " ".join(part for part in parts if part)
