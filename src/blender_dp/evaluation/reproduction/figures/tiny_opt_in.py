"""Fig. 18 (``fig:tiny-optin-stats``): L1 and NDCG at tiny opt-in shares."""

from functools import partial

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_OPT_IN,
    L1,
    NDCG,
    over_opt_in,
    sized_panel,
)
from blender_dp.evaluation.reproduction.series import Panel
from blender_dp.evaluation.reproduction.sweeps import TINY_SHARES, Setup

over_tiny_opt_in = partial(over_opt_in, shares=TINY_SHARES)


def _panels(setup: Setup) -> tuple[Panel, ...]:
    return tuple(
        sized_panel(
            setup.tiny_list_sizes,
            setup,
            measure=measure,
            sweep=over_tiny_opt_in,
            axes=(BY_OPT_IN, axis),
            title=title,
        )
        for title, measure, axis in (("L1", "query_l1", L1), ("NDCG", "ndcg", NDCG))
    )


FIGURE = Plot(
    number=18,
    name="tiny-opt-in",
    title="L1 and NDCG with a tiny opt-in group",
    panels=_panels,
    note="The paper has it for Yandex; other logs use list sizes they reach. Its text states no "
    "number of this figure.",
)
