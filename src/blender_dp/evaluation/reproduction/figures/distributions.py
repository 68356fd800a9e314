"""Picture of the spread of an evaluation's trials, for the main measures."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from blender_dp.evaluation.reproduction.figures.drawing.drawing import COLOURS, canvas, save
from blender_dp.evaluation.reproduction.figures.drawing.lines import GROUPS
from blender_dp.evaluation.trials.scores import Scores

_Column = tuple[str, str, str]
"""Label, role of its colour and measure."""
_RELAY: _Column = ("relay\nclients", "relay", "_relay")
"""Label, role and suffix of relay clients, who are drawn if there are any."""
_LISTED = (
    ("top 10\nlisted", "blended", "recall_queries_10"),
    ("top 50\nlisted", "blended", "recall_queries_50"),
    ("queries\nmissed", "blended", "missing_queries"),
    ("records\nmissed", "blended", "missing_records"),
)
"""Share of the most popular queries that are listed; probability of what is not."""


def draw_distributions(scores: Sequence[Scores], *, caption: str, stem: Path) -> None:
    """Draw every trial's NDCG and L1, of the blend and of each group alone, and what it lists."""
    panels: list[tuple[str, Sequence[_Column]]] = [
        ("NDCG (best: 1)", _by_group(scores, "ndcg")),
        ("L1 of listed queries (best: 0)", _by_group(scores, "query_l1")),
        ("share listed, probability missed", _LISTED),
    ]
    with canvas(3, 1, caption) as picture:
        for axes, (label, columns) in zip(picture.subplots(1, 3), panels, strict=True):
            _draw_columns(axes, scores, columns)
            axes.set_ylabel(label)
        save(picture, stem)


def _by_group(scores: Sequence[Scores], measure: str) -> list[_Column]:
    """Return a column of a measure for the blend and for each group."""
    has_relay = any(not isnan(trial.query_l1_relay) for trial in scores)
    groups = [*GROUPS, _RELAY] if has_relay else GROUPS
    return [(label.replace(" ", "\n"), role, measure + suffix) for label, role, suffix in groups]


def _draw_columns(axes: Axes, scores: Sequence[Scores], columns: Sequence[_Column]) -> None:
    for place, (_, role, measure) in enumerate(columns):
        values = np.array([asdict(trial)[measure] for trial in scores], float)
        values = values[~np.isnan(values)]
        # Points are spread sideways so that equal trials are visible; the seed is fixed.
        sideways = place + 0.16 * np.sin(np.arange(len(values)) * 2.4)
        axes.plot(sideways, values, "o", color=COLOURS[role], markersize=3.5, alpha=0.6)
        if len(values):
            axes.hlines(np.median(values), place - 0.3, place + 0.3, color=COLOURS[role])
    axes.set_xticks(range(len(columns)), [label for label, _, _ in columns])
    axes.grid(visible=False, axis="x")
