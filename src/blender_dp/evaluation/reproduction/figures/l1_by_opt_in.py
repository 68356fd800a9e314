"""Fig. 13 (``fig:L1-by-optin-percentage``): L1 by the share of the users who opt in."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_OPT_IN,
    L1,
    by_size,
    over_opt_in,
    size_label,
)
from blender_dp.evaluation.reproduction.series import Panel
from blender_dp.evaluation.reproduction.sweeps import Setup
from blender_dp.evaluation.reproduction.verdicts import Claim, begins_at, changes, reached_at


def _panels(setup: Setup) -> tuple[Panel, ...]:
    return (by_size(setup, measure="query_l1", sweep=over_opt_in, x=BY_OPT_IN, y=L1),)


FIGURE = Plot(
    number=13,
    name="l1-by-opt-in",
    title="L1 by opt-in share",
    panels=_panels,
    claims=(
        Claim(
            statement="size-50-from-5-percent",
            check=lambda panels: begins_at(panels[0][size_label(50)], 5.0),
        ),
        Claim(
            statement="l1-falls-to-10-percent",
            check=lambda panels: changes(panels[0][size_label(50)], start=5.0, end=10.0, wanted=-1),
        ),
        Claim(
            statement="size-500-at-3-percent",
            check=lambda panels: reached_at(panels[0][size_label(500)], 3.0),
        ),
    ),
)
