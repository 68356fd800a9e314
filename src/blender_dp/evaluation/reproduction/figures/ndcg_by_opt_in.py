"""Fig. 15 (``fig:ndcg-opt-in-percentage``): NDCG by the share of the users who opt in."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_OPT_IN,
    NDCG,
    by_size,
    over_opt_in,
    size_label,
)
from blender_dp.evaluation.reproduction.series import Panel
from blender_dp.evaluation.reproduction.sweeps import Setup
from blender_dp.evaluation.reproduction.verdicts import Claim, all_above


def _panels(setup: Setup) -> tuple[Panel, ...]:
    return (by_size(setup, measure="ndcg", sweep=over_opt_in, x=BY_OPT_IN, y=NDCG),)


FIGURE = Plot(
    number=15,
    name="ndcg-by-opt-in",
    title="NDCG by opt-in share",
    panels=_panels,
    claims=(
        Claim(
            statement="above-95-at-5-percent",
            check=lambda panels: all_above([panels[0][size_label(50)]], 0.95, at=5.0),
            is_headline=True,
        ),
        Claim(
            statement="above-95-at-1-percent",
            check=lambda panels: all_above(panels[0].series[:-1], 0.95, at=1.0),
        ),
    ),
)
