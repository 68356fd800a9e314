"""Variances and 95 % intervals of the ``sharp`` estimates."""

import numpy as np

from blender_dp.core.blend_probabilities.common_estimate import CommonEstimate
from blender_dp.core.estimation.estimates import Estimate, Z
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import FloatArray

_PRIOR_EXPONENT_UNKNOWN_BY = 0.3
"""The prior's exponent is known to about ±0.5 of 1.75: so much of its correction may be wrong."""


def score_interval(
    cells: Estimate, common: CommonEstimate, views: OptInViews
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of all p that the estimate does not contradict at the 5 % level.

    The variance grows with p, by a slope h that comes from the opt-in sample. All p with
    (p̂ - p)² ≤ z²(Var + h(p - p̂)) are p̂ + z²h/2 ± z√(Var + (z·h/2)²).
    """
    conc, n_o = views.whole_list.record_concentration, views.users
    h = (cells.variance / common.opt_in_variance) ** 2 * conc / n_o
    centre = cells.probability + Z**2 * h / 2
    reach = Z * np.sqrt(cells.variance + (Z * h / 2) ** 2)
    return np.clip(centre - reach, 0, 1), np.clip(centre + reach, 0, 1)


def weight_of_queries(
    group_variance: FloatArray, common: CommonEstimate, views: OptInViews
) -> FloatArray:
    """Return how much of an error of a group's query total reaches the estimate of it.

    Args:
        group_variance: The variance of what the group says of each cell.
        common: The estimate.
        views: The opt-in users' views.
    """
    s = views.cells.by_query(common.variance)
    among_cells = views.cells.by_query(common.variance**2 / group_variance) / s
    weight: FloatArray = among_cells / (1 + s / common.clients.v_q)
    return weight


def unaccounted_variance(common: CommonEstimate, views: OptInViews) -> FloatArray:
    """Return what the variance of an opt-in query total has beyond the sum over its cells.

    Records of one query that one user holds are correlated: a total varies by concq·P_q, its
    cells by conc·p. And the prior's correction errs in all records of a query alike.
    """
    lists = views.whole_list
    excess = lists.query_concentration - lists.record_concentration
    same_user = excess * views.cells.by_query(common.p) * views.sampled / views.users
    shift = views.cells.by_query(common.prior_shift)
    same_prior: FloatArray = (_PRIOR_EXPONENT_UNKNOWN_BY * shift) ** 2
    return same_user + same_prior
