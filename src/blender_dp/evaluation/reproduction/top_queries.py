"""Truly most popular queries, with the estimates of each part of BLENDER (Fig. 9)."""

from typing import Any

import numpy as np

from blender_dp.core.blender import BlenderResult
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.evaluation.trials.coded_log import CodedLog

TOP = 10
"""Number of rows: ⋆ and nine queries, as in the paper's table."""

COLUMNS = ("truth", "blended", "opt_in", "client_queries", "client_records")
"""Columns 2 to 6 of the paper's table."""


def most_popular(log: CodedLog, most: int = TOP - 1) -> IntArray:
    """Return the codes of the truly most popular queries, most popular first."""
    by_query = np.bincount(log.query, weights=log.probability)
    order: IntArray = np.argsort(-by_query, kind="stable")[:most]
    return order


def top_queries(log: CodedLog, result: BlenderResult) -> dict[str, Any]:
    """Return ⋆ and the most popular queries with all estimates; null if one is not listed."""
    cells = result.head_list.cells
    columns = {
        "truth": cells.by_query(log.true_cells(result.head_list)),
        "blended": result.blended.queries.raw.probability,
        "opt_in": cells.by_query(np.nan_to_num(result.curated.opt_in.cells.probability)),
        "client_queries": result.clients.queries.probability,
        "client_records": cells.by_query(result.clients.cells.probability),
    }
    place = {int(query): at for at, query in enumerate(result.head_list.queries)}
    by_query = np.bincount(log.query, weights=log.probability)
    rows = [_row(columns, len(place))]
    for code in most_popular(log).tolist():
        row = _row(columns, place.get(code))
        rows.append({**row, "truth": float(by_query[code])})
    return {"rows": rows}


def _row(columns: dict[str, FloatArray], at: int | None) -> dict[str, float | None]:
    return {name: None if at is None else float(columns[name][at]) for name in COLUMNS}


def regressions(estimates: list[float | None]) -> list[bool]:
    """Tell for each estimate whether it is out of order: larger than the one above it.

    The paper marks its table in this way: of 46, 62, 47 only 62 is red. The first row, ⋆, is not
    compared.
    """
    marked = [False] * len(estimates)
    above: float | None = None
    for at, estimate in enumerate(estimates[1:], start=1):
        if estimate is not None:
            marked[at] = above is not None and estimate > above
            above = estimate
    return marked
