"""Scores of one result, compared with the truth."""

import math
from dataclasses import dataclass

import numpy as np

from blender_dp.core.blender import BlenderResult
from blender_dp.core.certificate.flaws import negative_variances
from blender_dp.core.estimation.estimates import Blend
from blender_dp.core.head_list.cells import BoolArray, FloatArray, IntArray
from blender_dp.evaluation.trials.metrics import (
    coverage,
    l1_at,
    ndcg,
    query_l1,
    query_l1_rescaled,
    rare_half_bias,
    recall_at,
    record_l1,
    record_l1_rescaled,
    record_rmse,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryTruth:
    """True probabilities of all queries, listed or not, which recall needs."""

    probability: FloatArray
    is_listed: BoolArray
    """Whether the list names each query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The paper's measures, for the blend and for each group alone, then further measures.

    A measure without a value is NaN.
    """

    candidate_queries: int
    candidate_records: int
    queries: int
    records: int
    ndcg: float
    ndcg_opt_in: float
    ndcg_clients: float
    query_l1: float
    """L1 of the blended query estimates before projection: the paper's trend computation."""
    query_l1_opt_in: float
    query_l1_clients: float
    record_l1: float
    negative_variances: float
    """Share of cells whose opt-in variance estimate is below zero."""
    record_l1_rescaled: float
    query_l1_rescaled: float
    record_rmse: float
    record_coverage: float
    """Share of listed records with a 95 % interval whose interval holds the truth."""
    query_coverage: float
    recall_queries_10: float
    """Share of the 10 truly most popular queries that are listed."""
    recall_queries_50: float
    missing_queries: float
    """True probability of all queries that are not listed."""
    missing_records: float
    """True probability of all records that are not listed, those of listed queries too."""
    query_l1_top_50: float
    """L1 of the 50 truly most popular queries; one that is not listed is estimated as 0."""
    rare_half_bias: float
    """Error of the sum over the less popular half of the records, relative to the true sum."""
    records_without_interval: int
    queries_without_interval: int
    record_opt_in_weight: float
    """Median weight of the opt-in estimate among listed records; below ½, clients weigh more."""
    query_opt_in_weight: float
    ndcg_relay: float
    query_l1_relay: float
    record_relay_weight: float
    """Median weight of the relay clients' estimate among listed records."""
    query_relay_weight: float


def score(
    result: BlenderResult, true_cells: FloatArray, true_queries: QueryTruth | None = None
) -> Scores:
    """Measure one result.

    Args:
        result: The result to measure.
        true_cells: The true probability of every cell of its head list.
        true_queries: The truth about all queries; recall is NaN without it.
    """
    cells = result.head_list.cells
    listed = cells.is_listed
    low, high = result.blended.cells.interval()
    query_low, query_high = result.blended.queries.interval()
    by_query = cells.by_query(true_cells)
    of_records = coverage((low[listed], high[listed]), true_cells[listed])
    of_queries = coverage((query_low[:-1], query_high[:-1]), by_query[:-1])
    opt_in, clients, blended = result.curated.opt_in, result.clients, result.blended
    of_relay = blended.cells.relayed, blended.queries.relayed
    return Scores(
        candidate_queries=result.curated.candidate_queries,
        candidate_records=result.curated.candidate_records,
        queries=len(result.head_list.queries),
        records=len(result.head_list.records()),
        ndcg=ndcg(cells, blended.cells.projected, true_cells),
        ndcg_opt_in=ndcg(cells, np.nan_to_num(opt_in.cells.probability), true_cells),
        ndcg_clients=ndcg(cells, clients.cells.probability, true_cells)
        if result.client_users
        else math.nan,
        query_l1=query_l1(blended.queries.raw.probability, by_query),
        query_l1_opt_in=query_l1(opt_in.queries.probability, by_query),
        query_l1_clients=query_l1(clients.queries.probability, by_query),
        record_l1=record_l1(cells, blended.cells.projected, true_cells),
        negative_variances=negative_variances(result) / cells.cell_count,
        record_l1_rescaled=record_l1_rescaled(cells, blended.cells.projected, true_cells),
        query_l1_rescaled=query_l1_rescaled(blended.queries.raw.probability, by_query),
        record_rmse=record_rmse(cells, blended.cells.projected, true_cells),
        record_coverage=of_records.share,
        query_coverage=of_queries.share,
        recall_queries_10=_query_recall(10, true_queries),
        recall_queries_50=_query_recall(50, true_queries),
        missing_queries=float(by_query[-1]),
        missing_records=float(true_cells[~listed].sum()),
        query_l1_top_50=_query_l1(50, blended.queries.raw.probability, true_queries),
        rare_half_bias=rare_half_bias(cells, blended.cells.projected, true_cells),
        records_without_interval=of_records.without_interval,
        queries_without_interval=of_queries.without_interval,
        record_opt_in_weight=_median(blended.cells.opt_in_weight[listed]),
        query_opt_in_weight=_median(blended.queries.opt_in_weight[:-1]),
        ndcg_relay=ndcg(cells, of_relay[0].probability, true_cells) if of_relay[0] else math.nan,
        query_l1_relay=query_l1(of_relay[1].probability, by_query) if of_relay[1] else math.nan,
        record_relay_weight=_relay_weight(blended.cells, np.flatnonzero(listed)),
        query_relay_weight=_relay_weight(blended.queries, np.arange(cells.query_count - 1)),
    )


def _relay_weight(blend: Blend, places: IntArray) -> float:
    """Return the median weight of the relay clients; NaN if there are none."""
    return math.nan if blend.relay_weight is None else _median(blend.relay_weight[places])


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _query_recall(k: int, truth: QueryTruth | None) -> float:
    return math.nan if truth is None else recall_at(k, truth.probability, truth.is_listed)


def _query_l1(k: int, estimate: FloatArray, truth: QueryTruth | None) -> float:
    if truth is None:
        return math.nan
    everywhere = np.zeros_like(truth.probability)
    everywhere[truth.is_listed] = estimate[:-1]
    return l1_at(k, everywhere, truth.probability)
