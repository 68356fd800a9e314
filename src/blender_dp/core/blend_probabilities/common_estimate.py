"""Common estimate of p from all groups: one round of the ``sharp`` blend.

Every variance is taken at the common p of the round before, never at a group's own noisy
estimate: weights then do not depend on the errors they weigh (flaws F1 and F2 of the paper).
"""

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.core.blend_probabilities.popularity_prior import PopularityPrior
from blender_dp.core.blend_probabilities.rare_records import RareRecords
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.consistency import reconcile
from blender_dp.core.estimation.drift import QueryTotals, between_group_variance
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.target import around_target
from blender_dp.core.head_list.cells import Cells, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClientsAtP:
    """Estimates of clients, with variances at a common p; infinite without an estimate.

    The variances are those in a wider population; see ``target.py``.
    """

    x: FloatArray
    v: FloatArray
    y: FloatArray
    v_q: FloatArray

    @classmethod
    def local(cls, clients: ClientViews, cells: Cells, p: FloatArray) -> "ClientsAtP":
        """Compute the variances of local clients."""
        x, v = np.zeros(cells.cell_count), np.full(cells.cell_count, np.inf)
        y, v_q = np.zeros(cells.query_count), np.full(cells.query_count, np.inf)
        if clients.records:
            x = clients.records.estimate
            v = clients.records.variance(p)
        if clients.queries:
            y, v_q = clients.queries.estimate, clients.queries.variance(cells.by_query(p))
        return cls(x=x, v=v, y=y, v_q=v_q)

    @classmethod
    def relayed(cls, relayed: ClientView, cells: Cells, p: FloatArray) -> "ClientsAtP":
        """Compute the variances of relay clients, who answer on records only."""
        return cls(
            x=relayed.estimate,
            v=relayed.variance(p),
            y=np.zeros(cells.query_count),
            v_q=np.full(cells.query_count, np.inf),
        )

    def joined(self, relayed: "ClientsAtP") -> "ClientsAtP":
        """Return what local and relay clients say together."""
        v = 1 / (1 / self.v + 1 / relayed.v)
        return replace(self, x=(self.x / self.v + relayed.x / relayed.v) * v, v=v)

    def by_query(self, cells: Cells) -> tuple[FloatArray, FloatArray]:
        """Return the query totals by both kinds of reports together, and their variances."""
        from_records, from_queries = 1 / cells.by_query(self.v), 1 / self.v_q
        precision = from_records + from_queries
        said = precision > 0
        divisor = np.where(said, precision, 1.0)
        total = (cells.by_query(self.x) * from_records + self.y * from_queries) / divisor
        return total, np.where(said, 1 / divisor, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommonEstimate:
    """The p of one round, and the estimates that it combines."""

    p: FloatArray
    opt_in: FloatArray
    """The opt-in users' probabilities, corrected for the prior as if they were alone."""
    opt_in_variance: FloatArray
    """Their variance in a wider population, with an allowance for drift."""
    prior_shift: FloatArray
    """Amount by which the prior lowered them in the blend."""
    clients: ClientsAtP
    """All clients together."""
    local: ClientsAtP
    relayed: ClientsAtP | None
    """The relay clients, if there are any."""
    variance: FloatArray
    """v: the variance of the groups' weighted mean, likewise, before consistency."""
    between_group_variance: float
    """tau²; 0 without significant drift."""


def estimate_common(
    before: FloatArray,
    views: OptInViews,
    rare: RareRecords,
    clients: ClientViews,
    *,
    prior: PopularityPrior,
    robust: bool,
) -> CommonEstimate:
    """Return the distribution nearest to all groups' estimates, with variances at p ``before``."""
    p = np.maximum(before, 0.25 / views.users)
    plain, shift, variance = _opt_in_at(p, views, rare, prior)
    said = local = ClientsAtP.local(clients, views.cells, p)
    relayed = None
    if clients.relayed:
        relayed = ClientsAtP.relayed(clients.relayed, views.cells, p)
        said = local.joined(relayed)
    between = 0.0
    if robust and clients.reports:
        between = between_group_variance(query_totals(p, views, said))
    opt_in_variance = variance + between * p**2
    v = 1 / (1 / opt_in_variance + 1 / said.v)
    shift_in_blend = shift * _unknown_part(v, views, p)
    x = ((plain - shift_in_blend) / opt_in_variance + said.x / said.v) * v
    return CommonEstimate(
        p=reconcile(x, v, views.cells, said.y, said.v_q),
        opt_in=plain - shift * _unknown_part(opt_in_variance, views, p),
        opt_in_variance=opt_in_variance,
        prior_shift=shift_in_blend,
        clients=said,
        local=local,
        relayed=relayed,
        variance=v,
        between_group_variance=between,
    )


def _opt_in_at(
    p: FloatArray, views: OptInViews, rare: RareRecords, prior: PopularityPrior
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the opt-in users' probabilities, how much the prior lowers them, and their variances.

    All in a wider population. Far above the threshold the posterior mean under the prior μ^(-a) is
    Y - a·v/Y, to first order. The variance of a rare record is that of its posterior, brought from
    its own mean to the common p as a normal one would be.
    """
    n_o = views.users
    y, variance = views.combined(n_o * p)
    shift = prior.exponent * variance / np.maximum(y, views.scaled_threshold)
    shift = np.where(views.cells.is_discovered, shift, 0.0)
    own_mean = n_o * p
    own_mean[rare.cells] = rare.mean
    at_own_mean = views.combined(own_mean)[1][rare.cells]
    shift[rare.cells] = y[rare.cells] - rare.mean
    variance[rare.cells] *= rare.variance / at_own_mean
    return y / n_o, shift / n_o, variance / n_o**2


def _unknown_part(variance: FloatArray, views: OptInViews, p: FloatArray) -> FloatArray:
    """Return which part of an estimate's variance is error around the target, not the target's own.

    The prior is one for the target: it draws an estimate by this part of what it would otherwise.
    """
    return around_target(variance, views.target_variance(p)) / variance


def query_totals(p: FloatArray, views: OptInViews, said: ClientsAtP) -> QueryTotals:
    """Return each group's estimates of the queries with n_O·P_q > 4τ, for the test of drift.

    For the opt-in users only E is used, because D was selected. The difference of two disjoint
    groups varies as if they were samples of a wider population.
    """
    cells, n_o, concentration = views.cells, views.users, views.whole_list.query_concentration
    p_q = cells.by_query(p)
    chosen = np.flatnonzero(p_q[:-1] * n_o > 4 * views.scaled_threshold)
    sample = np.maximum(concentration * p_q - p_q**2, 0.01 * p_q) / n_o
    clients, client_variance = said.by_query(cells)
    return QueryTotals(
        queries=chosen,
        opt_in=cells.by_query(views.sums)[chosen] / n_o,
        opt_in_variance=(sample + cells.by_query(views.sum_variance) / n_o**2)[chosen],
        clients=clients[chosen],
        client_variance=client_variance[chosen],
        probability=p_q[chosen],
    )


def relay_totals(common: CommonEstimate, relayed: ClientsAtP, views: OptInViews) -> QueryTotals:
    """Return the same of relay clients, in the place of opt-in users, and local clients."""
    totals = query_totals(common.p, views, common.local)
    said, variance = relayed.by_query(views.cells)
    chosen = totals.queries
    return replace(totals, opt_in=said[chosen], opt_in_variance=variance[chosen])
