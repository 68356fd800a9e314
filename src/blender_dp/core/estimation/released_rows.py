"""Rows of a result, one per record or query, as tables, files and pages show them.

Estimates are recomputed from released integers, never the other way round. ⋆ is not a string: if a
row is not one record, query or URL are None and ``cell`` names the kind of row.
"""

from collections.abc import Sequence

import numpy as np

from blender_dp.core.blender import BlenderResult
from blender_dp.core.estimation.estimates import Blend, Estimate
from blender_dp.core.head_list.cells import FloatArray, IntArray

Columns = dict[str, Sequence[object]]
COLUMN_ORDER = (
    *("cell", "query", "url", "probability", "std_error", "low", "high"),
    *("opt_in_probability", "client_probability", "opt_in_weight", "raw_probability"),
    *("opt_in_std_error", "client_std_error"),
    *("relay_probability", "relay_weight", "relay_std_error"),
    *("all_clients_probability", "all_clients_std_error"),
    *("opt_in_noisy_count", "client_report_count", "relay_report_count"),
)
"""Order of the columns in tables; documents in canonical form have lost it."""


def record_rows(result: BlenderResult) -> Columns:
    """Return the cells as columns, most probable first."""
    cells, head_list = result.head_list.cells, result.head_list
    query = [*(head_list.queries[q] for q in cells.query_of_cell[:-1]), None]
    url: list[str | None] = [None] * cells.cell_count
    for cell, record in zip(cells.listed, head_list.records(), strict=True):
        url[cell] = record.url
    kind = ["other_url" if u is None else "record" for u in url]
    kind[-1] = "other"
    opt_in, clients = result.curated.opt_in, result.clients
    columns: Columns = {"cell": kind, "query": query, "url": url}
    columns |= _numbers(result, result.blended.cells, (opt_in.cells, clients.cells))
    columns["opt_in_noisy_count"] = _where(opt_in.counts, ~np.isnan(opt_in.cells.probability))
    columns["client_report_count"] = clients.counts.tolist()
    if result.relayed is not None:
        columns["relay_report_count"] = result.relayed.counts.tolist()
    return _most_probable_first(columns)


def query_rows(result: BlenderResult) -> Columns:
    """Return the queries as columns, most probable first."""
    names = result.head_list.queries
    columns: Columns = {"cell": [*("query" for _ in names), "other"], "query": [*names, None]}
    groups = (result.curated.opt_in.queries, result.clients.queries)
    columns |= _numbers(result, result.blended.queries, groups)
    return _most_probable_first(columns)


def _numbers(result: BlenderResult, blend: Blend, groups: tuple[Estimate, Estimate]) -> Columns:
    opt_in, clients = blend.groups or groups
    # If the opt-in variance estimate is negative (flaw F1), the blend has no valid error.
    sound = np.where(opt_in.variance < 0, np.nan, 1.0)
    low, high = blend.interval()
    shown = blend.projected if result.parameters.project else blend.raw.probability
    columns: Columns = {
        "probability": shown.tolist(),
        "std_error": _or_none(blend.raw.std_error * sound),
        "low": _or_none(low * sound),
        "high": _or_none(high * sound),
        "opt_in_probability": _or_none(opt_in.probability),
        "client_probability": _or_none(clients.probability),
        "opt_in_weight": blend.opt_in_weight.tolist(),
        "raw_probability": blend.raw.probability.tolist(),
        "opt_in_std_error": _or_none(opt_in.std_error),
        "client_std_error": _or_none(clients.std_error),
    }
    if blend.relayed is not None and blend.relay_weight is not None:
        columns["relay_probability"] = _or_none(blend.relayed.probability)
        columns["relay_weight"] = blend.relay_weight.tolist()
        columns["relay_std_error"] = _or_none(blend.relayed.std_error)
    if blend.all_clients is not None:
        columns["all_clients_probability"] = _or_none(blend.all_clients.probability)
        columns["all_clients_std_error"] = _or_none(blend.all_clients.std_error)
    return columns


def _or_none(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _where(values: IntArray, present: np.ndarray) -> list[int | None]:
    return [int(v) if here else None for v, here in zip(values, present, strict=True)]


def _most_probable_first(columns: Columns) -> Columns:
    probability = np.array(columns["probability"], dtype=np.float64)
    order = np.argsort(-probability, kind="stable")
    return {name: [column[i] for i in order] for name, column in columns.items()}
