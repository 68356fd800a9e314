"""Pictures of a run: the ranking, the curve of probabilities, the weights of the groups."""

from typing import TYPE_CHECKING, Any

from blender_dp.analysis.drawing import (
    BLENDED,
    CLIENTS,
    OPT_IN,
    RELAY,
    Line,
    draw_bars,
    draw_lines,
)
from blender_dp.analysis.tables import one_of
from blender_dp.core.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = ("ranking", "curve", "weights")


def draw_result(
    queries: Any,  # noqa: ANN401 - pyarrow is untyped
    kind: str,
    *,
    most: int,
    axes: "Axes | None",
) -> "Axes":
    """Draw the queries of a result in one of three ways."""
    one_of("kind", kind, _KINDS)
    if not isinstance(most, int) or most < 1:
        raise ParameterError("most", "a whole number from 1 on", most)
    rows = [row for row in queries.to_pylist() if row["cell"] == "query"]
    if kind == "ranking":
        return draw_bars(
            axes,
            [row["query"] for row in rows[:most]],
            [row["probability"] for row in rows[:most]],
            intervals=[(row["low"], row["high"]) for row in rows[:most]],
            label="probability, with 95 % interval",
            title=f"The {min(most, len(rows))} most popular of {len(rows)} queries",
        )
    ranks = [float(rank) for rank in range(1, len(rows) + 1)]
    if kind == "curve":
        return _draw_curve(axes, rows, ranks)
    shares = {"opt-in users": "opt_in_weight", "relay clients": "relay_weight"}
    colours = {"opt-in users": OPT_IN, "relay clients": RELAY}
    there = {label: name for label, name in shares.items() if name in queries.column_names}
    lines = [
        Line(label=label, colour=colours[label], x=ranks, y=[row[name] for row in rows])
        for label, name in there.items()
    ]
    others = [1 - sum(row[name] for name in there.values()) for row in rows]
    lines.append(Line(label="clients", colour=CLIENTS, x=ranks, y=others))
    title = "Weight of each group in the estimate of a query"
    return draw_lines(axes, lines, x="rank", y="weight", title=title)


def _draw_curve(axes: "Axes | None", rows: list[Any], ranks: list[float]) -> "Axes":
    line = Line(
        label="blended",
        colour=BLENDED,
        x=ranks,
        y=[row["probability"] if row["probability"] > 0 else None for row in rows],
        low=[row["low"] for row in rows],
        high=[row["high"] for row in rows],
    )
    title = "Probability of a query by its rank, with 95 % intervals"
    return draw_lines(axes, [line], x="rank", y="probability", title=title, logarithmic="xy")
