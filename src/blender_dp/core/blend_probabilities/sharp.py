"""BlendProbabilities of the ``sharp`` preset: all groups as samples of one distribution.

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
from blender_dp.core.blend_probabilities.popularity_prior import PopularityPrior
from blender_dp.core.blend_probabilities.rare_records import RareRecords, rare_records
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.estimation.consistency import posterior_variances
from blender_dp.core.estimation.drift import Drift, compare_groups
from blender_dp.core.estimation.estimates import (
    Blend,
    BlendedEstimates,
    Estimate,
    GroupEstimates,
    Z,
)
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.target import around_target
from blender_dp.core.head_list.cells import FloatArray

ROUNDS = 6
"""Number of rounds in which variances and estimates are computed in turn."""
_PRIOR_EXPONENT_UNKNOWN_BY = 0.3
"""The prior's exponent is 1.75 ± 0.5; this share of its correction may be wrong."""


def blend_probabilities(opt_in: GroupEstimates, clients: GroupEstimates) -> BlendedEstimates:
    """Return p̂ on the cells and on the queries, from each group's release.

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
        views: The opt-in users' released data, among the n users whose mean is estimated.
        clients: The clients' estimates; None without clients.
        robust: Let the opt-in users count for less where the groups differ significantly.
        prior_exponent: a, the assumed exponent of the frequencies of records.
    """
    if clients is None or views.cells.cell_count == 1:  # reports on ⟨⋆,⋆⟩ alone tell nothing
        clients = ClientViews()
    prior = PopularityPrior.of(views, prior_exponent)
    rare = rare_records(views, prior)
    p = views.start()
    for number in range(ROUNDS):
        common = estimate_common(p, views, rare, clients, prior=prior, robust=robust)
        p = (p + common.p) / 2 if number else common.p  # damped, so that it converges
    return BlendedEstimates(
        cells=_cells(common, views, rare),
        queries=_queries(common, views),
        drift=_drift(common, views, clients),
        relay_drift=_relay_drift(common, views, clients),
        disagreement=disagreement(common, views, clients),
    )


def _cells(common: CommonEstimate, views: OptInViews, rare: RareRecords) -> Blend:
    variance, _ = posterior_variances(common.variance, views.cells, common.clients.v_q)
    target = views.target_variance(common.p)
    estimate = Estimate(probability=common.p, variance=around_target(variance, target))
    opt_in = Estimate(
        probability=common.opt_in, variance=around_target(common.opt_in_variance, target)
    )
    clients, local, relayed = common.clients, common.local, common.relayed
    return Blend(
        raw=estimate,
        projected=estimate.probability,
        opt_in_weight=common.variance / common.opt_in_variance,
        bounds=_score_interval(estimate, variance / common.opt_in_variance, views, rare),
        groups=(opt_in, _where_said(local.x, local.v, target)),
        relayed=_where_said(relayed.x, relayed.v, target) if relayed else None,
        relay_weight=common.variance / relayed.v if relayed else None,
        all_clients=_where_said(clients.x, clients.v, target) if relayed else None,
    )


def _queries(common: CommonEstimate, views: OptInViews) -> Blend:
    cells = views.cells
    _, variance = posterior_variances(common.variance, cells, common.clients.v_q)
    weight = _weight_of_queries(common.opt_in_variance, common, views)
    further = _unaccounted_variance(common, views)
    target = views.query_target_variance(common.p)
    estimate = Estimate(
        probability=cells.by_query(common.p),
        variance=around_target(variance + weight**2 * further, target),
    )
    clients, local, relayed = common.clients, common.local, common.relayed
    return Blend(
        raw=estimate,
        projected=estimate.probability,
        opt_in_weight=weight,
        bounds=estimate.interval(),
        groups=(_opt_in_totals(common, views), _where_said(*local.by_query(cells), target)),
        relayed=_where_said(*relayed.by_query(cells), target) if relayed else None,
        relay_weight=_weight_of_queries(relayed.v, common, views) if relayed else None,
        all_clients=_where_said(*clients.by_query(cells), target) if relayed else None,
    )


def _score_interval(
    cells: Estimate, opt_in_weight: FloatArray, views: OptInViews, rare: RareRecords
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of all p that the estimate does not contradict at the 5 % level.

    The variance grows with p, by a slope h that comes from the opt-in sample. All p with
    (p̂ - p)² ≤ z²(Var + h(p - p̂)) are p̂ + z²h/2 ± z√(Var + (z·h/2)²). The variance of a rare record
    is that of p given the data, for every p: h is 0.
    """
    h = opt_in_weight**2 * views.whole_list.record_concentration / views.users
    h[rare.cells] = 0
    centre = cells.probability + Z**2 * h / 2
    reach = Z * np.sqrt(cells.variance + (Z * h / 2) ** 2)
    return np.clip(centre - reach, 0, 1), np.clip(centre + reach, 0, 1)


def _weight_of_queries(
    group_variance: FloatArray, common: CommonEstimate, views: OptInViews
) -> FloatArray:
    """Return the share of an error in a group's query total that reaches its estimate.

    Args:
        group_variance: Variance of the group's estimate of each cell.
        common: The estimate.
        views: The opt-in users' views.
    """
    s = views.cells.by_query(common.variance)
    among_cells = views.cells.by_query(common.variance**2 / group_variance) / s
    weight: FloatArray = among_cells / (1 + s / common.clients.v_q)
    return weight


def _unaccounted_variance(common: CommonEstimate, views: OptInViews) -> FloatArray:
    """Return the variance of an opt-in query total beyond the sum over its cells.

    One user's records of a query are correlated, and the prior's correction has the same error in
    all records of a query.
    """
    shift = views.cells.by_query(common.prior_shift)
    same_prior: FloatArray = (_PRIOR_EXPONENT_UNKNOWN_BY * shift) ** 2
    return views.same_user_variance(common.p) + same_prior


def _opt_in_totals(common: CommonEstimate, views: OptInViews) -> Estimate:
    """Return the opt-in users' own query totals: E, neither selected nor corrected.

    The corrections of a query's records all have the same sign, so the total of a query with many
    URLs would be too low.
    """
    cells, n_o = views.cells, views.users
    p = cells.by_query(common.p)
    drawn = np.maximum(views.whole_list.query_concentration * p - p**2, 0.01 * p) / n_o
    target = views.query_target_variance(common.p)
    noise = cells.by_query(views.sum_variance) / n_o**2
    return Estimate(
        probability=cells.by_query(views.sums) / n_o,
        variance=around_target(drawn, target) + noise + common.between_group_variance * p**2,
    )


def _where_said(probability: FloatArray, variance: FloatArray, target: FloatArray) -> Estimate:
    said = np.isfinite(variance)
    return Estimate(
        probability=np.where(said, probability, np.nan),
        variance=around_target(np.where(said, variance, np.nan), target),
    )


def _drift(common: CommonEstimate, views: OptInViews, clients: ClientViews) -> Drift | None:
    if not clients.reports:
        return None
    totals = query_totals(common.p, views, common.clients)
    return compare_groups(totals, between_group_variance=common.between_group_variance)


def _relay_drift(common: CommonEstimate, views: OptInViews, clients: ClientViews) -> Drift | None:
    """Compare relay clients with local ones; None if either group is missing."""
    if common.relayed is None or not clients.local_reports:
        return None
    totals = relay_totals(common, common.relayed, views)
    return compare_groups(totals, groups=("relay clients", "local clients"))
