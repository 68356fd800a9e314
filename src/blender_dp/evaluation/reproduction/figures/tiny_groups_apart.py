"""Fig. 19 (``fig:tiny-optin-breakout-stats``): each group alone, at tiny opt-in shares."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_OPT_IN,
    L1,
    NDCG,
    group_panel,
)
from blender_dp.evaluation.reproduction.figures.tiny_opt_in import over_tiny_opt_in
from blender_dp.evaluation.reproduction.series import Axis, Line, MeasuredPanel, Panel
from blender_dp.evaluation.reproduction.sweeps import Setup
from blender_dp.evaluation.reproduction.verdicts import (
    Claim,
    Verdict,
    all_below,
    all_of,
    always_below,
)

WEIGHT = Axis(label="median weight of the opt-in estimate")


def _panels(setup: Setup) -> tuple[Panel, ...]:
    size = setup.tiny_groups_list_size
    settings = over_tiny_opt_in(setup, size)
    weights = tuple(
        Line(label=label, measure=measure, role="size", settings=settings)
        for label, measure in (
            ("records", "record_opt_in_weight"),
            ("queries", "query_opt_in_weight"),
        )
    )
    return (
        group_panel(f"L1, list size {size}", "query_l1", settings, (BY_OPT_IN, L1)),
        group_panel(f"NDCG, list size {size}", "ndcg", settings, (BY_OPT_IN, NDCG)),
        Panel(title="Weights in the blend", x=BY_OPT_IN, y=WEIGHT, lines=weights),
    )


def _opt_in_is_worse(panels: list[MeasuredPanel]) -> Verdict:
    return all_of(
        [
            always_below(panels[0]["clients"], [panels[0]["opt-in group"]]),
            always_below(panels[1]["opt-in group"], [panels[1]["clients"]]),
        ]
    )


FIGURE = Plot(
    number=19,
    name="tiny-groups-apart",
    title="The blend and each group apart with a tiny opt-in group",
    panels=_panels,
    note="The paper has it for Yandex at list size 10, without the weights.",
    claims=(
        Claim(
            statement="clients-dominate",
            check=lambda panels: all_below(panels[2].series, 0.5),
            is_headline=True,
        ),
        Claim(statement="opt-in-much-worse", check=_opt_in_is_worse),
    ),
)
