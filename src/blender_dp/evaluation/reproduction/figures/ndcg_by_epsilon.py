"""Fig. 16 (``fig:ndcg-datasets``): NDCG by ε."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_EPSILON,
    NDCG,
    by_size,
    over_epsilon,
)
from blender_dp.evaluation.reproduction.series import Panel
from blender_dp.evaluation.reproduction.sweeps import Setup
from blender_dp.evaluation.reproduction.verdicts import Claim, all_above


def _panels(setup: Setup) -> tuple[Panel, ...]:
    return (by_size(setup, measure="ndcg", sweep=over_epsilon, x=BY_EPSILON, y=NDCG),)


FIGURE = Plot(
    number=16,
    name="ndcg-by-epsilon",
    title="NDCG by ε",
    panels=_panels,
    claims=(
        Claim(
            statement="above-95-at-epsilon-1",
            check=lambda panels: all_above(panels[0].series[:-2], 0.95, at=1.0),
        ),
    ),
)
