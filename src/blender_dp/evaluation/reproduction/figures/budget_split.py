"""Fig. 10 (``fig:blended-vs-not``): how clients share their budget between query and URL."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import Plot
from blender_dp.evaluation.reproduction.figures.drawing.lines import L1, NDCG, group_panel
from blender_dp.evaluation.reproduction.series import Axis, MeasuredPanel, Panel
from blender_dp.evaluation.reproduction.sweeps import BUDGET_SPLITS, Setup
from blender_dp.evaluation.reproduction.verdicts import (
    Claim,
    Verdict,
    all_of,
    changes,
    falls,
    peaks_at,
)

SPLIT = Axis(label="f_C, share of a client's budget for the query", place="f_C = {:g}")
PUBLISHED_PEAK = 0.85


def _panels(setup: Setup) -> tuple[Panel, ...]:
    settings = tuple((f_c, setup.setting(query_budget_fraction=f_c)) for f_c in BUDGET_SPLITS)
    return (
        group_panel("L1", "query_l1", settings, (SPLIT, L1)),
        group_panel("NDCG", "ndcg", settings, (SPLIT, NDCG)),
    )


def _l1_falls(panels: list[MeasuredPanel]) -> Verdict:
    return all_of([falls(panels[0][label]) for label in ("clients", "blended")])


FIGURE = Plot(
    number=10,
    name="budget-split",
    title="Results across a range of budget splits",
    panels=_panels,
    claims=(
        Claim(
            statement="client-ndcg-peak",
            check=lambda panels: peaks_at(panels[1]["clients"], PUBLISHED_PEAK),
            why="Where the peak lies depends on how many URLs listed queries have and how "
            "similar their popularities are. The paper states neither for its log, so it is not "
            "known why the synthetic one peaks elsewhere.",
            is_headline=True,
        ),
        Claim(statement="l1-falls-with-the-split", check=_l1_falls),
        Claim(
            statement="blended-ndcg-drops-above",
            check=lambda panels: changes(
                panels[1]["blended"], start=PUBLISHED_PEAK, end=BUDGET_SPLITS[-1], wanted=-1
            ),
        ),
    ),
)
