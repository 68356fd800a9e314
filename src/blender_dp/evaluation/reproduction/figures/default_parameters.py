"""Fig. 11 (``table:parameters``): the default parameters of all experiments."""

from blender_dp.evaluation.reproduction.figures.drawing.figure import (
    Cell,
    Found,
    Table,
    TableFigure,
)
from blender_dp.evaluation.reproduction.published import published
from blender_dp.evaluation.reproduction.sweeps import DATA_NAMES
from blender_dp.evaluation.reproduction.verdicts import Answer, Claim, Verdict

_SYMBOLS = {
    "epsilon": "ε",
    "delta": "δ",
    "opt_in": "|O| / (|O| + |C|)",
    "records_per_optin_user": "m_O",
    "records_per_client": "m_C",
    "head_list_user_fraction": "f_O",
    "query_budget_fraction": "f_C",
    "head_list_size": "M",
}


def _table(found: Found) -> Table:
    setting = found.setup.setting()
    ours = {**setting.parameters.document(), "opt_in": setting.opt_in}
    theirs = published()[11].table[found.setup.shape]
    rows = tuple(
        (
            Cell(symbol),
            Cell(f"{ours[name]:g}"),
            Cell(f"{theirs[name]:g}", ours[name] != theirs[name]),
        )
        for name, symbol in _SYMBOLS.items()
    )
    return Table(
        header=("parameter", "used here", f"cited: paper ({DATA_NAMES[found.setup.shape]})"),
        rows=rows,
        facts={"differing": [name for name in _SYMBOLS if ours[name] != theirs[name]]},
    )


def _equal(table: Table) -> Verdict:
    differing = table.facts["differing"]
    if differing:
        return Verdict(Answer.FAILS, f"differ: {', '.join(differing)}")
    return Verdict(Answer.HOLDS, "all eight are equal")


FIGURE = TableFigure(
    number=11,
    name="default-parameters",
    title="Default parameters",
    tabulate=_table,
    claims=(Claim(statement="defaults", check=_equal),),
)
