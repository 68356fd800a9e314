"""Fig. 17 (``fig:breakout-stats``): the blend and each group alone, by opt-in share and by ε."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import (
    BY_EPSILON,
    BY_OPT_IN,
    L1,
    NDCG,
    group_panel,
    over_epsilon,
    over_opt_in,
)
from blender_dp.evaluation.reproduction.series import MeasuredPanel, Panel
from blender_dp.evaluation.reproduction.sweeps import Setup
from blender_dp.evaluation.reproduction.verdicts import (
    Claim,
    Verdict,
    all_of,
    always_below,
    not_the_worst,
)


def _panels(setup: Setup) -> tuple[Panel, ...]:
    size = setup.groups_list_size
    by_share, by_epsilon = over_opt_in(setup, size), over_epsilon(setup, size)
    return (
        group_panel(
            f"L1, ε = {setup.epsilon:g}, list size {size}", "query_l1", by_share, (BY_OPT_IN, L1)
        ),
        group_panel(
            f"NDCG, ε = {setup.epsilon:g}, list size {size}", "ndcg", by_share, (BY_OPT_IN, NDCG)
        ),
        group_panel(
            f"L1, {setup.opt_in:.0%} opt in, list size {size}",
            "query_l1",
            by_epsilon,
            (BY_EPSILON, L1),
        ),
        group_panel(
            f"NDCG, {setup.opt_in:.0%} opt in, list size {size}",
            "ndcg",
            by_epsilon,
            (BY_EPSILON, NDCG),
        ),
    )


def _below_both(panels: list[MeasuredPanel]) -> Verdict:
    return all_of(
        [
            always_below(panel["blended"], [panel["opt-in group"], panel["clients"]])
            for panel in (panels[0], panels[2])
        ]
    )


def _never_worst(panels: list[MeasuredPanel]) -> Verdict:
    return all_of(
        [
            not_the_worst(
                panel["blended"],
                (panel["opt-in group"], panel["clients"]),
                lower_is_better=at % 2 == 0,
            )
            for at, panel in enumerate(panels)
        ]
    )


FIGURE = Plot(
    number=17,
    name="groups-apart",
    title="The blend and each group apart",
    panels=_panels,
    note="The paper has it for Yandex at list size 100; other logs use a size they reach.",
    claims=(
        Claim(
            statement="l1-below-both-groups",
            check=_below_both,
            why="Where ε is large or opt-in users are few the clients alone are so precise that "
            "the blend follows them: what it gains is smaller than these trials can show.",
            is_headline=True,
        ),
        Claim(statement="better-than-the-worse", check=_never_worst),
    ),
)
