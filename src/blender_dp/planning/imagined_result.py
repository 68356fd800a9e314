"""Result of one collection from imagined users, compared with their truth."""

import math
from dataclasses import dataclass

import numpy as np

from blender_dp.core.blender import BlenderResult, blender
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.curator.budget import Branch
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import FloatArray
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.metrics import ndcg, query_l1, record_l1
from blender_dp.planning.imagined_users import ImaginedPopulation

MEASURES = (
    *("queries", "records", "ndcg", "query_l1", "record_l1"),
    *("query_interval", "record_interval"),
)
"""Predicted measures, in the order of the output."""
TOP_QUERIES = 50
"""Number of the most popular queries on which settings are compared, listed or not."""
_KNOWN_TO = 0.5
"""A query is known if its 95 % interval reaches at most half its probability to each side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImaginedResult:
    """Result of one imagined collection."""

    measures: dict[str, float]
    """Values of :data:`MEASURES`; L1 is that of the released probabilities, an interval's value is
    the median width over the list. NaN where there is no value."""
    top_error: float
    """L1 of all records of the 50 most popular queries; those not listed are estimated as 0."""
    known_queries: int
    """Queries whose interval reaches at most half their probability to each side."""
    branch: Branch | None
    client_mechanism: str
    """How clients reported, for people."""
    query_share: float | None
    """φ, the share of clients that report only the query; None without such a question."""
    report_epsilon: float | None
    """ε0 of a relay client's report; None without a relay."""


def imagined_result(
    population: ImaginedPopulation,
    parameters: Parameters,
    relay: RelayRules = RelayRules(),  # noqa: B008 - frozen
    known: KnownList = NOTHING_KNOWN,
) -> ImaginedResult:
    """Run BLENDER on imagined users and compare the result with their truth."""
    population = population.with_new_draws()
    result = blender(
        population, parameters, Randomness.seeded(population.seed), relay=relay, known=known
    )
    truth = population.true_cells(result.head_list)
    cells, blended = result.head_list.cells, result.blended
    mechanism, choice = result.head_list.mechanism, result.curated.choice
    of_relay = result.head_list.relay
    low, high = blended.cells.interval()
    query_low, query_high = (bound[:-1] for bound in blended.queries.interval())
    listed = cells.is_listed
    return ImaginedResult(
        measures={
            "queries": len(result.head_list.queries),
            "records": int(np.count_nonzero(listed)),
            "ndcg": ndcg(cells, blended.cells.projected, truth),
            "query_l1": query_l1(blended.queries.projected, cells.by_query(truth)),
            "record_l1": record_l1(cells, blended.cells.projected, truth),
            "query_interval": _median_width(query_low, query_high),
            "record_interval": _median_width(low[listed], high[listed]),
        },
        top_error=_top_error(population, result, truth),
        known_queries=int(
            np.count_nonzero(
                query_high - query_low <= 2 * _KNOWN_TO * blended.queries.projected[:-1]
            )
        ),
        branch=None if choice is None else choice.branch,
        client_mechanism=mechanism.title,
        query_share=mechanism.query_share if "query" in mechanism.channels(cells) else None,
        report_epsilon=None if of_relay is None else of_relay.report_epsilon,
    )


def _median_width(low: FloatArray, high: FloatArray) -> float:
    width = (high - low)[~np.isnan(high - low)]
    return float(np.median(width)) if len(width) else math.nan


def _top_error(population: ImaginedPopulation, result: BlenderResult, truth: FloatArray) -> float:
    """Return the error on listed records of popular queries plus the mass of missing ones."""
    cells, prior = result.head_list.cells, population.imagined.prior
    number = np.append(population.imagined.listed_numbers(result.head_list), TOP_QUERIES)
    is_top = (number < TOP_QUERIES)[cells.query_of_cell] & cells.is_listed
    there = prior.query_probability(np.arange(min(TOP_QUERIES, prior.queries))).sum()
    missing = max(there - truth[is_top].sum(), 0.0)
    return float(np.abs(result.blended.cells.projected - truth)[is_top].sum() + missing)
