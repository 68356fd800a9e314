"""Lines of a figure: one measure along a sweep of settings, from stored trials."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from blender_dp.core.head_list.cells import FloatArray
from blender_dp.evaluation.reproduction.medians import Median, median_of
from blender_dp.evaluation.reproduction.sweeps import Setting, values_of

Role = Literal["blended", "opt-in", "clients", "size", "peer"]
"""Role of a line, which decides how it is drawn."""

Outcomes = Callable[[Setting], Sequence[Mapping[str, Any]]]
"""Returns the outcomes of a setting's trials, in the order of their numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Definition of a line."""

    label: str
    measure: str
    """A field of ``Scores``."""
    role: Role
    settings: tuple[tuple[float, Setting], ...]
    """Positions on the axis, each with its setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Measure of an axis and its unit."""

    label: str
    place: str = "{:g}"
    """Format of a position on the axis, such as ε = {:g}."""
    logarithmic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Point:
    """One setting of a line."""

    x: float
    values: FloatArray
    """Value of every trial; NaN if its list was shorter than requested."""
    reached: int
    """Number of trials whose list had the requested size."""
    median: Median

    @property
    def is_shown(self) -> bool:
        """Whether half of the trials reached the list size; otherwise the point is not drawn."""
        return 0 < len(self.values) <= 2 * self.reached


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """A line with its numbers."""

    label: str
    role: Role
    measure: str
    points: tuple[Point, ...]
    place: str = "{:g}"
    """Format of a point's position."""

    def where(self, x: float) -> str:
        """Return the text of this position."""
        return self.place.format(x)

    def shown(self) -> list[Point]:
        """Return the points that are drawn."""
        return [point for point in self.points if point.is_shown]

    def at(self, x: float) -> Point:
        """Return the point at ``x``."""
        return next(point for point in self.points if point.x == x)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredPanel:
    """A pair of axes with its numbers."""

    panel: Panel
    series: tuple[Series, ...]

    def __getitem__(self, label: str) -> Series:
        """Return the line of this label."""
        return next(series for series in self.series if series.label == label)


def measured(panel: Panel, outcomes: Outcomes) -> MeasuredPanel:
    """Fill a panel with the outcomes of its trials."""
    return MeasuredPanel(
        panel=panel, series=tuple(_series(line, panel.x.place, outcomes) for line in panel.lines)
    )


def _series(line: Line, place: str, outcomes: Outcomes) -> Series:
    points = tuple(
        _point(x, setting, outcomes(setting), line.measure) for x, setting in line.settings
    )
    return Series(
        label=line.label, role=line.role, measure=line.measure, points=points, place=place
    )


def measured_point(x: float, values: FloatArray) -> Point:
    """Return the point of these trials; NaN marks a list that was too short."""
    reached = int(np.count_nonzero(~np.isnan(values)))
    return Point(x=x, values=values, reached=reached, median=median_of(values))


def _point(
    x: float, setting: Setting, outcomes: Sequence[Mapping[str, Any]], measure: str
) -> Point:
    wanted = setting.parameters.head_list_size or 0
    is_reached = values_of(outcomes, "queries") >= wanted
    return measured_point(x, np.where(is_reached, values_of(outcomes, measure), np.nan))
