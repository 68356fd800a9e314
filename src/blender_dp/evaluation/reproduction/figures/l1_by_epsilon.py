"""Fig. 14 (``fig:L1-datasets``): L1 by ε."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_EPSILON,
    L1,
    by_size,
    over_epsilon,
)
from blender_dp.evaluation.reproduction.series import Panel
from blender_dp.evaluation.reproduction.sweeps import Setup
from blender_dp.evaluation.reproduction.verdicts import Claim, all_below, all_of, falls


def _panels(setup: Setup) -> tuple[Panel, ...]:
    return (by_size(setup, measure="query_l1", sweep=over_epsilon, x=BY_EPSILON, y=L1),)


FIGURE = Plot(
    number=14,
    name="l1-by-epsilon",
    title="L1 by ε",
    panels=_panels,
    claims=(
        Claim(
            statement="steady-decline",
            check=lambda panels: all_of([falls(series) for series in panels[0].series]),
        ),
        Claim(
            statement="l1-under-a-tenth",
            check=lambda panels: all_below(panels[0].series, 0.1),
        ),
    ),
)
