"""Picture of the spread of an evaluation's trials, for the main measures."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from blender_dp.evaluation.reproduction.figures.drawing.drawing import COLOURS, canvas, save
from blender_dp.evaluation.reproduction.figures.drawing.lines import GROUPS
from blender_dp.evaluation.trials.scores import Scores

_PANELS = (("ndcg", "NDCG (best: 1)"), ("query_l1", "L1 of listed queries (best: 0)"))


def draw_distributions(scores: Sequence[Scores], *, caption: str, stem: Path) -> None:
    """Draw every trial's NDCG and L1, of the blend and of each group alone."""
    with canvas(2, 1, caption) as picture:
        for axes, (measure, label) in zip(picture.subplots(1, 2), _PANELS, strict=True):
            _draw_groups(axes, scores, measure)
            axes.set_ylabel(label)
        save(picture, stem)


def _draw_groups(axes: Axes, scores: Sequence[Scores], measure: str) -> None:
    for place, (_, role, suffix) in enumerate(GROUPS):
        values = np.array([asdict(trial)[f"{measure}{suffix}"] for trial in scores], float)
        values = values[~np.isnan(values)]
        # Points are spread sideways so that equal trials are visible; the seed is fixed.
        sideways = place + 0.16 * np.sin(np.arange(len(values)) * 2.4)
        axes.plot(sideways, values, "o", color=COLOURS[role], markersize=3.5, alpha=0.6)
        if len(values):
            axes.hlines(np.median(values), place - 0.3, place + 0.3, color=COLOURS[role])
    axes.set_xticks(range(len(GROUPS)), [label for label, _, _ in GROUPS])
    axes.grid(visible=False, axis="x")
