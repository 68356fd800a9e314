"""Fig. 9 (``fig:frequencies``): the ten most popular queries, as each part of BLENDER sees them."""

import numpy as np

from blender_dp.core.head_list.visible_names import visible
from blender_dp.evaluation.reproduction.figures.drawing.figure import (
    Cell,
    Found,
    Table,
    TableFigure,
)
from blender_dp.evaluation.reproduction.medians import median_of
from blender_dp.evaluation.reproduction.published import published
from blender_dp.evaluation.reproduction.sweeps import Setup, Trial, trials_of
from blender_dp.evaluation.reproduction.top_queries import COLUMNS, regressions
from blender_dp.evaluation.reproduction.verdicts import Answer, Claim, Verdict, shown

EPSILON = 3.0
_HEADINGS = (
    "data set",
    "BLENDER p̂_q",
    "opt-in Σ_u p̂_O",
    "client p̂_C,q",
    "client Σ_u p̂_C",
)


def _trials(setup: Setup, repetitions: int) -> list[Trial]:
    return trials_of([setup.setting(epsilon=EPSILON)], repetitions, kind="top queries")


def _table(found: Found) -> Table:
    outcomes = [outcome["rows"] for outcome in found.of(_trials(found.setup, found.repetitions))]
    names = ["⋆", *found.statistics["top_queries"]]
    first = outcomes[0]
    marks = {name: regressions([row[name] for row in first]) for name in COLUMNS}
    rows = tuple(
        (
            Cell(visible(query)),
            *(Cell(_number(row[name]), marks[name][at]) for name in COLUMNS),
        )
        for at, (query, row) in enumerate(zip(names, first, strict=False))
    )
    counts = {
        name: median_of(
            np.array([sum(regressions([row[name] for row in rows])) for rows in outcomes], float)
        )
        for name in COLUMNS[1:]
    }
    return Table(
        header=("query", *_HEADINGS),
        rows=rows,
        note=f"The first of {len(outcomes)} trials at ε = {EPSILON:g}; regressions in red. "
        "Regressions over all trials, median and 95 % interval: "
        + ", ".join(
            f"{heading} {shown(counts[name])}"
            for heading, name in zip(_HEADINGS[1:], COLUMNS[1:], strict=True)
        )
        + _papers_regressions(found.setup),
        facts={"regressions": counts},
    )


def _papers_regressions(setup: Setup) -> str:
    if setup.shape != "aol":
        return ". The paper has this table for AOL only."
    marked = [column for row in published()[9].table for column in row["regressions"]]
    counts = ", ".join(str(marked.count(name)) for name in COLUMNS[1:])
    return f". The paper's one trial has {counts}."


def _number(value: float | None) -> str:
    return "not listed" if value is None else f"{value:.4f}"


def _one_regression(table: Table) -> Verdict:
    count = table.facts["regressions"]["blended"]
    if np.isnan(count.low):
        return Verdict(Answer.OPEN, f"{shown(count)} regressions in the blend")
    answer = Answer.HOLDS if count.high <= 1 else Answer.FAILS if count.low > 1 else Answer.OPEN
    return Verdict(answer, f"{shown(count)} regressions in the blend (median over trials)")


FIGURE = TableFigure(
    number=9,
    name="top-ten",
    title="Probability estimates for the most popular queries, ε = 3",
    tabulate=_table,
    needed=_trials,
    claims=(
        Claim(
            statement="one-regression",
            check=_one_regression,
            why="The paper shows one trial; neighbours in its table differ by as little as "
            "0.0001, less than the standard error of any estimate, so that the number of "
            "regressions changes from trial to trial.",
        ),
    ),
)
