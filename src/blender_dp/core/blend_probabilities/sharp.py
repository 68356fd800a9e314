"""BlendProbabilities of the ``sharp`` preset: both groups as samples of one distribution.

Privacy: post-processing of private releases; nothing is spent. The reasons for every step are in
docs/explanation/sharp-estimates.md.
"""

import numpy as np

from blender_dp.core.blend_probabilities.common_estimate import (
    CommonEstimate,
    estimate_common,
    query_totals,
    relay_totals,
)
from blender_dp.core.blend_probabilities.group_comparison import disagreement
from blender_dp.core.blend_probabilities.intervals import (
    score_interval,
    unaccounted_variance,
    weight_of_queries,
)
from blender_dp.core.blend_probabilities.rare_records import rare_records
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.estimation.consistency import posterior_variances
from blender_dp.core.estimation.drift import Drift, compare_groups
from blender_dp.core.estimation.estimates import (
    Blend,
    BlendedEstimates,
    Estimate,
    GroupEstimates,
)
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import FloatArray

ROUNDS = 6
"""How often variances and estimates are computed in turn."""


def blend_probabilities(opt_in: GroupEstimates, clients: GroupEstimates) -> BlendedEstimates:
    """Return p̂ on the cells and on the queries, from what each group released.

    Opt-in users count for less where the groups differ significantly.
    """
    released, reported = opt_in.evidence, clients.evidence
    if not isinstance(released, OptInViews) or not isinstance(reported, ClientViews):
        raise BrokenInvariantError("the sharp blend needs what sharp steps released")
    return combine(released.among(released.users + reported.reports), reported)


def combine(
    views: OptInViews,
    clients: ClientViews | None,
    *,
    robust: bool = True,
    prior_exponent: float = 1.75,
) -> BlendedEstimates:
    """Return p̂ on the cells and on the queries, with variances, intervals and the test of drift.

    Args:
        views: What the opt-in users' data gave, among the n users whose mean is estimated.
        clients: What the reports gave; None without clients.
        robust: Let the opt-in users count for less where the groups differ significantly.
        prior_exponent: a, with which frequencies of records are taken to fall off.
    """
    if clients is None or views.cells.cell_count == 1:  # of ⟨⋆,⋆⟩ alone reports say nothing
        clients = ClientViews()
    rare = rare_records(views, prior_exponent)
    p = views.start()
    for number in range(ROUNDS):
        common = estimate_common(
            p, views, rare, clients, prior_exponent=prior_exponent, robust=robust
        )
        p = (p + common.p) / 2 if number else common.p  # the mean, lest two answers alternate
    return BlendedEstimates(
        cells=_cells(common, views),
        queries=_queries(common, views),
        drift=_drift(common, views, clients),
        relay_drift=_relay_drift(common, views, clients),
        disagreement=disagreement(common, views, clients),
    )


def _cells(common: CommonEstimate, views: OptInViews) -> Blend:
    variance, _ = posterior_variances(common.variance, views.cells, common.clients.v_q)
    estimate = Estimate(probability=common.p, variance=variance)
    opt_in = Estimate(probability=common.opt_in, variance=common.opt_in_variance)
    local, relayed = common.local, common.relayed
    return Blend(
        raw=estimate,
        projected=estimate.probability,
        opt_in_weight=common.variance / common.opt_in_variance,
        bounds=score_interval(estimate, common, views),
        groups=(opt_in, _where_said(local.x, local.v)),
        relayed=_where_said(relayed.x, relayed.v) if relayed else None,
        relay_weight=common.variance / relayed.v if relayed else None,
    )


def _queries(common: CommonEstimate, views: OptInViews) -> Blend:
    cells = views.cells
    _, variance = posterior_variances(common.variance, cells, common.clients.v_q)
    weight = weight_of_queries(common.opt_in_variance, common, views)
    further = unaccounted_variance(common, views)
    estimate = Estimate(
        probability=cells.by_query(common.p), variance=variance + weight**2 * further
    )
    relayed = common.relayed
    return Blend(
        raw=estimate,
        projected=estimate.probability,
        opt_in_weight=weight,
        bounds=estimate.interval(),
        groups=(_opt_in_totals(common, views), _where_said(*common.local.by_query(cells))),
        relayed=_where_said(*relayed.by_query(cells)) if relayed else None,
        relay_weight=weight_of_queries(relayed.v, common, views) if relayed else None,
    )


def _opt_in_totals(common: CommonEstimate, views: OptInViews) -> Estimate:
    """Return what the opt-in users alone say of each query: E, neither selected nor corrected.

    The corrections of a query's records all go one way. Their total would be too low where a
    query has many URLs.
    """
    cells, n_o = views.cells, views.users
    p = cells.by_query(common.p)
    drawn = np.maximum(views.whole_list.query_concentration * p - p**2, 0.01 * p) / n_o
    noise = cells.by_query(views.sum_variance) / n_o**2
    return Estimate(
        probability=cells.by_query(views.sums) / n_o,
        variance=views.sampled * drawn + noise + common.between_group_variance * p**2,
    )


def _where_said(probability: FloatArray, variance: FloatArray) -> Estimate:
    said = np.isfinite(variance)
    return Estimate(
        probability=np.where(said, probability, np.nan), variance=np.where(said, variance, np.nan)
    )


def _drift(common: CommonEstimate, views: OptInViews, clients: ClientViews) -> Drift | None:
    if not clients.reports:
        return None
    totals = query_totals(common.p, views, common.clients, clients.reports)
    return compare_groups(totals, between_group_variance=common.between_group_variance)


def _relay_drift(common: CommonEstimate, views: OptInViews, clients: ClientViews) -> Drift | None:
    """Compare relay clients with local ones; None if either group is missing."""
    if common.relayed is None or not clients.local_reports:
        return None
    totals = relay_totals(common, common.relayed, views, clients.reports)
    return compare_groups(totals, groups=("relay clients", "local clients"))
