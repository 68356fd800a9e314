"""Fig. 8 (``fig:dataset-stats``): statistics of the data set."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import (
    Cell,
    Found,
    Table,
    TableFigure,
)
from blender_dp.evaluation.reproduction.published import published
from blender_dp.evaluation.reproduction.sweeps import DATA_NAMES
from blender_dp.evaluation.reproduction.verdicts import Answer, Claim, Verdict

_ROWS = (
    ("Unique queries", "queries"),
    ("Unique clients", "users"),
    ("Unique URLs", "urls"),
)


def _table(found: Found) -> Table:
    ours, theirs = found.statistics, published()[8].table[found.setup.shape]
    size = ours["bytes"]
    rows = [
        (
            Cell("Dataset on disk"),
            Cell("never on disk" if size is None else f"{size / 1e9:.3g} GB"),
            Cell(f"{theirs['gigabytes']:g} GB"),
        ),
        *((Cell(name), Cell(f"{ours[key]:,}"), Cell(f"{theirs[key]:,}")) for name, key in _ROWS),
        (Cell("Records (clicks)"), Cell(f"{ours['records']:,}"), Cell("not stated")),
    ]
    return Table(
        header=("statistic", "counted here", f"cited: paper ({DATA_NAMES[found.setup.shape]})"),
        rows=tuple(rows),
        facts={"ours": ours, "theirs": theirs},
    )


def _same(table: Table, keys: tuple[str, ...]) -> Verdict:
    ours, theirs = table.facts["ours"], table.facts["theirs"]
    answer = Answer.HOLDS if all(ours[k] == theirs[k] for k in keys) else Answer.FAILS
    return Verdict(answer, "; ".join(f"{k}: {ours[k]:,}" for k in keys))


FIGURE = TableFigure(
    number=8,
    name="dataset-statistics",
    title="Dataset statistics",
    tabulate=_table,
    claims=(
        Claim(statement="users", check=lambda table: _same(table, ("users",))),
        Claim(
            statement="queries-and-urls",
            check=lambda table: _same(table, ("queries", "urls")),
            why="A synthetic log has only as many distinct queries and URLs as its records draw "
            "from the long tail of its shape; the paper does not say how many records its logs "
            "have. The tail never reaches a head list.",
        ),
    ),
)
