"""Drawing with matplotlib, which is optional; only this file imports it here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blender_dp.analysis.tables import require_package
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.visible_names import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLENDED, OPT_IN, CLIENTS, RELAY = "#2f4bd0", "#b9500b", "#0b7d68", "#a3268c"
"""Colours of the blend and of each group, in all pictures and pages."""
_MOST_LETTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a picture."""

    label: str
    colour: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    """Lower end of the interval of each point; empty without intervals."""
    high: Sequence[float | None] = ()


def axes_or_new(axes: "Axes | None", *, height: float = 4.0) -> "Axes":
    """Return axes to draw on: a caller's, or those of a new picture.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ParameterError: They are no axes.
    """
    require_package("matplotlib", "plot()")
    from matplotlib import axes as matplotlib_axes  # noqa: PLC0415 - optional, and slow to import
    from matplotlib import pyplot  # noqa: PLC0415

    if axes is not None:
        if not isinstance(axes, matplotlib_axes.Axes):
            raise ParameterError("axes", "axes of matplotlib", type(axes).__name__)
        return axes
    return pyplot.subplots(figsize=(6.4, height), layout="constrained")[1]


def draw_bars(
    axes: "Axes | None",
    names: Sequence[str],
    values: Sequence[float],
    *,
    intervals: Sequence[tuple[float | None, float | None]],
    label: str,
    title: str,
) -> "Axes":
    """Draw a point with its interval for each name, the first at the top."""
    drawn = axes_or_new(axes, height=1.2 + 0.26 * max(len(names), 3))
    places = range(len(names))
    drawn.plot(values, places, "o", color=BLENDED, markersize=4)
    for place, (low, high) in zip(places, intervals, strict=True):
        if low is not None and high is not None:
            drawn.hlines(place, low, high, color=BLENDED, linewidth=1.5)
    drawn.set_yticks(list(places), [shortened(name) for name in names])
    for text in drawn.get_yticklabels():
        text.set_parse_math(False)  # a name may hold $
    drawn.invert_yaxis()
    drawn.set_xlabel(label)
    drawn.set_title(title)
    return drawn


def draw_lines(
    axes: "Axes | None",
    lines: Sequence[Line],
    *,
    x: str,
    y: str,
    title: str,
    logarithmic: str = "",
) -> "Axes":
    """Draw lines over one axis.

    Args:
        axes: Where to draw; a new picture if None.
        lines: The lines.
        x: Label of the horizontal axis.
        y: Label of the vertical axis.
        title: Title of the picture.
        logarithmic: Axes with a logarithmic scale: x, y, xy, or none.
    """
    drawn = axes_or_new(axes)
    for line in lines:
        heights: Any = [float("nan") if value is None else value for value in line.y]
        drawn.plot(line.x, heights, "o-", color=line.colour, markersize=3, label=line.label)
        if line.low:
            ends: Any = ([nan_if_none(v) for v in side] for side in (line.low, line.high))
            drawn.fill_between(line.x, *ends, color=line.colour, alpha=0.15, linewidth=0)
    if "x" in logarithmic:
        _scale_by_factors(drawn)
    if "y" in logarithmic:
        drawn.set_yscale("log")
    drawn.set_xlabel(x)
    drawn.set_ylabel(y)
    drawn.set_title(title)
    if len(lines) > 1:
        drawn.legend()
    return drawn


def _scale_by_factors(drawn: "Axes") -> None:
    """Give the horizontal axis a logarithmic scale with plain numbers: 0.05, 0.1, 0.2."""
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415 - optional

    drawn.set_xscale("log")
    drawn.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    drawn.xaxis.set_minor_locator(NullLocator())
    drawn.xaxis.set_major_formatter("{x:g}")


def nan_if_none(value: float | None) -> float:
    """Return a number that is drawn as a gap, if there is none."""
    return float("nan") if value is None else value


def shortened(name: str) -> str:
    """Return a name for a picture: visible signs only, and not too many of them."""
    text = visible(name)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
