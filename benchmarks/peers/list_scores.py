"""Scores of a list that any method found, by the measures of the evaluation."""

from dataclasses import dataclass

import numpy as np

from benchmarks.peers.task import FoundRecords
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.metrics import (
    ndcg,
    ndcg_against_best,
    query_l1,
    recall_at,
    record_l1,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListScores:
    """The measures of one list."""

    queries: int
    records: int
    ndcg: float
    """NDCG of the list's own queries, as in the paper: measures their order."""
    ndcg_against_best: float
    """NDCG against the truly most popular queries: also measures which of them are listed."""
    query_l1: float
    record_l1: float
    recall: float
    """The share of the truly M most popular queries that are listed."""


def score_list(found: FoundRecords, log: CodedLog, list_size: int) -> ListScores:
    """Measure the ``list_size`` queries to which a method gives the most mass.

    Records that noise made up belong to queries that no user asked: their true probability is zero.

    Args:
        found: What the method says.
        log: Where the truth is.
        list_size: M. All methods are cut to it by this same rule.
    """
    listed = _Listed.of(found, log, list_size)
    cells = Cells.of(listed.urls_per_query)
    of_queries = log.query_probability()
    truth, estimate = np.zeros((2, cells.cell_count))
    is_record = listed.record < log.no_record
    truth[cells.listed[is_record]] = log.probability[listed.record[is_record]]
    estimate[cells.listed] = listed.probability
    exists = listed.query < len(of_queries)
    true_queries = np.zeros(len(listed.query) + 1)
    true_queries[:-1][exists] = of_queries[listed.query[exists]]
    is_listed = np.zeros(len(of_queries), dtype=np.bool_)
    is_listed[listed.query[exists]] = True
    best = np.sort(of_queries)[::-1][:list_size]
    return ListScores(
        queries=len(listed.query),
        records=len(listed.record),
        ndcg=ndcg(cells, estimate, truth),
        ndcg_against_best=ndcg_against_best(cells, estimate, truth, best),
        query_l1=query_l1(np.append(listed.query_probability, 0.0), true_queries),
        record_l1=record_l1(cells, estimate, truth),
        recall=recall_at(list_size, of_queries, is_listed),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Listed:
    """The list in the order of its cells: by query, and by URL within a query."""

    record: IntArray
    probability: FloatArray
    query: IntArray
    """The listed queries, each once."""
    query_probability: FloatArray
    urls_per_query: IntArray

    @classmethod
    def of(cls, found: FoundRecords, log: CodedLog, list_size: int) -> "_Listed":
        order = np.argsort(found.record)  # codes are in the order of queries, then of URLs
        record, probability = found.record[order], found.probability[order]
        query = _query_of(record, log)
        queries, place = np.unique(query, return_inverse=True)
        mass: FloatArray = np.zeros(len(queries))
        np.add.at(mass, place, probability)
        kept = np.zeros(len(queries), dtype=np.bool_)
        kept[np.argsort(-mass, kind="stable")[:list_size]] = True
        apart = found.query_probability
        return cls(
            record=record[kept[place]],
            probability=probability[kept[place]],
            query=queries[kept],
            query_probability=(
                mass[kept]
                if apart is None
                else np.array([apart[int(q)] for q in queries[kept]], dtype=np.float64)
            ),
            urls_per_query=np.bincount(place, minlength=len(queries))[kept],
        )


def _query_of(record: IntArray, log: CodedLog) -> IntArray:
    """Return the query of every record; each made-up one has a query of its own."""
    is_record = record < log.no_record
    query = np.empty_like(record)
    query[is_record] = log.query[record[is_record]]
    beyond = int(log.query.max(initial=-1)) + 1
    query[~is_record] = beyond + np.arange(np.count_nonzero(~is_record))
    return query
