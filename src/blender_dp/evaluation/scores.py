"""One result held against the truth."""

from dataclasses import dataclass

import numpy as np

from blender_dp.core.blender import BlenderResult
from blender_dp.core.cells import FloatArray
from blender_dp.core.flaws import negative_variances
from blender_dp.evaluation.metrics import ndcg, query_l1, record_l1


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The paper's measures, for the blend and for each group apart."""

    candidate_queries: int
    candidate_records: int
    queries: int
    records: int
    ndcg: float
    ndcg_opt_in: float
    ndcg_clients: float
    query_l1: float
    """Of the blended query estimates before projection: the paper's trend computation."""
    query_l1_opt_in: float
    query_l1_clients: float
    record_l1: float
    negative_variances: float
    """The share of cells whose opt-in variance estimate is below zero."""


def score(result: BlenderResult, true_cells: FloatArray) -> Scores:
    """Measure one result; ``true_cells`` holds the true probability of every cell."""
    cells = result.head_list.cells
    true_queries = cells.by_query(true_cells)
    opt_in, clients, blended = result.curated.opt_in, result.clients, result.blended
    return Scores(
        candidate_queries=result.curated.candidate_queries,
        candidate_records=result.curated.candidate_records,
        queries=len(result.head_list.queries),
        records=len(result.head_list.records()),
        ndcg=ndcg(cells, blended.cells.projected, true_cells),
        ndcg_opt_in=ndcg(cells, np.nan_to_num(opt_in.cells.probability), true_cells),
        ndcg_clients=ndcg(cells, clients.cells.probability, true_cells),
        query_l1=query_l1(blended.queries.raw.probability, true_queries),
        query_l1_opt_in=query_l1(opt_in.queries.probability, true_queries),
        query_l1_clients=query_l1(clients.queries.probability, true_queries),
        record_l1=record_l1(cells, blended.cells.projected, true_cells),
        negative_variances=negative_variances(result) / cells.cell_count,
    )
