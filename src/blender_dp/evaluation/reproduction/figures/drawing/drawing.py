"""Pictures of panels, as SVG and PNG; the only file that needs matplotlib."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import Bbox

from blender_dp.evaluation.reproduction.figures.drawing.figure import Table
from blender_dp.evaluation.reproduction.published import Mark
from blender_dp.evaluation.reproduction.series import MeasuredPanel, Series

COLOURS = {
    "blended": "#2f4bd0",
    "opt-in": "#b9500b",
    "clients": "#0b7d68",
    "relay": "#a3268c",
    "peer": "#8a3ea8",
}
_MARKERS = {"blended": "o", "opt-in": "D", "clients": "^", "peer": "P"}
_SIZE_COLOURS = ("#2f4bd0", "#0b7d68", "#b9500b", "#8a3ea8")
_SIZE_MARKERS = ("o", "^", "D", "s")
_PUBLISHED = "#c2185b"
_STYLE: Any = {  # keys that only matplotlib knows
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5a6270",
    "axes.grid": True,
    "grid.color": "#e4e7ec",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "svg.hashsalt": "blender-dp",  # the same numbers give the same file
}
_PANEL = (4.8, 4.0)


@contextmanager
def canvas(columns: int, rows: int, caption: str) -> Iterator[Canvas]:
    """Yield an empty picture with this many panels and a caption below them."""
    with mpl.rc_context(_STYLE):
        width = max(columns * _PANEL[0], 6.4)
        lines = fill(caption, width=int(width * 17)).splitlines()
        below = 0.17 * len(lines) + 0.12
        height = rows * _PANEL[1] + below
        picture = Canvas(figsize=(width, height), layout="constrained")
        picture.get_layout_engine().set(rect=(0, below / height, 1, 1 - below / height))  # type: ignore[union-attr, call-arg]  # given above
        picture.text(
            0.01, 0.08 / height, "\n".join(lines), fontsize=7.5, color="#5a6270", va="bottom"
        )
        yield picture


def save(picture: Canvas, stem: Path) -> None:
    """Write a picture as SVG and PNG, the same bytes for the same picture."""
    picture.draw_without_rendering()
    picture.set_layout_engine("none")  # lay it out once; otherwise it is done for each file
    picture.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    picture.savefig(stem.with_suffix(".png"), dpi=160, metadata={"Software": None})


def draw_panels(
    panels: Sequence[MeasuredPanel], marks: Sequence[Mark], *, title: str, caption: str, stem: Path
) -> None:
    """Draw the panels of one figure with the paper's statements."""
    columns = 1 if len(panels) == 1 else 3 if len(panels) == 3 else 2
    rows = -(-len(panels) // columns)
    with canvas(columns, rows, caption) as picture:
        picture.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
        grid: Any = picture.subplots(rows, columns, squeeze=False)
        for at, (axes, panel) in enumerate(zip(grid.flat, panels, strict=True)):
            _draw_panel(axes, panel, [mark for mark in marks if mark.panel == at])
        save(picture, stem)


def draw_table(table: Table, *, title: str, caption: str, stem: Path) -> None:
    """Draw a table, its marked cells in red."""
    columns = len(table.header)
    width = 1.1 * columns + 1.6
    below = fill(" ".join((table.note, caption)).strip(), width=int(width * 17)).count("\n") + 1
    height = 0.27 * (len(table.rows) + 2) + 0.17 * below + 0.5
    with mpl.rc_context(_STYLE):
        picture = Canvas(figsize=(width, height))
        picture.text(0.02, 1 - 0.1 / height, title, fontsize=11, fontweight="bold", va="top")
        axes = picture.add_axes(
            (0.02, (0.17 * below + 0.2) / height, 0.96, 1 - (0.17 * below + 0.6) / height)
        )
        axes.axis("off")
        drawn = axes.table(
            [[cell.text for cell in row] for row in table.rows],
            colLabels=table.header,
            cellLoc="right",
            bbox=Bbox.unit(),
        )
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(8.5)
        for (row, column), cell in drawn.get_celld().items():
            cell.set_edgecolor("#e4e7ec")
            if column == 0:
                cell.get_text().set_horizontalalignment("left")
            if row == 0:
                cell.get_text().set_fontweight("bold")
            elif table.rows[row - 1][column].is_marked:
                cell.get_text().set(color=_PUBLISHED, fontweight="bold")
        text = fill(" ".join((table.note, caption)).strip(), width=int(width * 17))
        picture.text(0.02, 0.06 / height, text, fontsize=7.5, color="#5a6270", va="bottom")
        save(picture, stem)


def _draw_panel(axes: Axes, panel: MeasuredPanel, marks: Sequence[Mark]) -> None:
    for at, series in enumerate(panel.series):
        _draw_series(axes, series, at)
    if panel.panel.y.logarithmic and any(series.shown() for series in panel.series):
        _make_logarithmic(axes)
    for mark in marks:
        _draw_mark(axes, mark)
    axes.set_title(panel.panel.title, loc="left")
    axes.set_xlabel(panel.panel.x.label)
    axes.set_ylabel(panel.panel.y.label)
    places = sorted({point.x for series in panel.series for point in series.points})
    room = 0.04 * (places[-1] - places[0])
    axes.set_xlim(places[0] - room, places[-1] + room)
    axes.set_xticks(places, [f"{place:g}" for place in places])
    if not any(series.shown() for series in panel.series):
        axes.text(0.5, 0.5, "no list size is reached", transform=axes.transAxes, ha="center")
    # Below the axes, where it hides no point.
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, columnspacing=1.2)


def _draw_series(axes: Axes, series: Series, at: int) -> None:
    points = series.shown()
    colour = COLOURS.get(series.role, _SIZE_COLOURS[at % len(_SIZE_COLOURS)])
    marker = _MARKERS.get(series.role, _SIZE_MARKERS[at % len(_SIZE_MARKERS)])
    stopped = "" if len(points) == len(series.points) else _stopped(series)
    value = np.array([point.median.value for point in points])
    low = np.array([point.median.low for point in points])
    high = np.array([point.median.high for point in points])
    axes.errorbar(
        [point.x for point in points],
        value,
        yerr=np.nan_to_num(np.array([value - low, high - value])),
        label=f"{series.label}{stopped}",
        color=colour,
        marker=marker,
        markersize=4.5,
        linewidth=1.4,
        elinewidth=1,
        capsize=2.5,
    )


def _stopped(series: Series) -> str:
    points = series.shown()
    if not points:
        return " (not reached)"
    return (
        f" (from {series.where(points[0].x)})" if points[-1] is series.points[-1] else " (in part)"
    )


def _make_logarithmic(axes: Axes) -> None:
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    # An axis of less than a decade has at most one default tick: label 1, 2 and 5 instead.
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 200 else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())


def _draw_mark(axes: Axes, mark: Mark) -> None:
    """Draw a statement of the paper: a star for a point, otherwise a dashed line."""
    if mark.x is not None and mark.y is not None:
        axes.plot(
            mark.x, mark.y, "*", color=_PUBLISHED, markersize=11, label=mark.label, linestyle="none"
        )
    elif mark.x is not None:
        axes.axvline(mark.x, color=_PUBLISHED, linestyle="--", linewidth=1.1, label=mark.label)
    else:
        level = mark.above if mark.above is not None else mark.below
        axes.axhline(level or 0, color=_PUBLISHED, linestyle="--", linewidth=1.1, label=mark.label)
