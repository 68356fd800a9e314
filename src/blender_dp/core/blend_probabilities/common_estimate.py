"""Common estimate of p from all groups: one round of the ``sharp`` blend.

Every variance is taken at the common p of the round before, never at a group's own noisy
estimate: weights then do not depend on the errors they weigh (flaws F1 and F2 of the paper).
"""

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.core.blend_probabilities.rare_records import RareRecords
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.consistency import reconcile
from blender_dp.core.estimation.drift import QueryTotals, between_group_variance
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import Cells, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClientsAtP:
    """Estimates of clients, with variances at a common p; infinite without an estimate."""

    x: FloatArray
    v: FloatArray
    y: FloatArray
    v_q: FloatArray

    @classmethod
    def local(
        cls, clients: ClientViews, views: OptInViews, p: FloatArray, others: float
    ) -> "ClientsAtP":
        """Compute the variances of local clients; a share ``others`` of all users is not local."""
        cells, whole_list = views.cells, views.whole_list
        x, v = np.zeros(cells.cell_count), np.full(cells.cell_count, np.inf)
        y, v_q = np.zeros(cells.query_count), np.full(cells.query_count, np.inf)
        if clients.records:
            x = clients.records.estimate
            v = clients.records.variance(p, whole_list.record_concentration, others)
        if clients.queries:
            y, concentration = clients.queries.estimate, whole_list.query_concentration
            v_q = clients.queries.variance(cells.by_query(p), concentration, others)
        return cls(x=x, v=v, y=y, v_q=v_q)

    @classmethod
    def relayed(
        cls, relayed: ClientView, views: OptInViews, p: FloatArray, others: float
    ) -> "ClientsAtP":
        """Compute the variances of relay clients, likewise; they answer on records only.

        E f² ≥ (E f)², so that no cell's concentration is below its p.
        """
        queries, concentration = views.cells.query_count, np.maximum(views.least_concentration, p)
        return cls(
            x=relayed.estimate,
            v=relayed.variance(p, concentration, others),
            y=np.zeros(queries),
            v_q=np.full(queries, np.inf),
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
    """x_O: the opt-in users' probabilities, corrected for the prior."""
    opt_in_variance: FloatArray
    """Variance of x_O, with an allowance for drift."""
    prior_shift: FloatArray
    """Amount by which that correction lowered them."""
    clients: ClientsAtP
    """All clients together."""
    local: ClientsAtP
    relayed: ClientsAtP | None
    """The relay clients, if there are any."""
    variance: FloatArray
    """v: the variance of the groups' weighted mean, before consistency."""
    between_group_variance: float
    """tau²; 0 without significant drift."""


def estimate_common(
    before: FloatArray,
    views: OptInViews,
    rare: RareRecords,
    clients: ClientViews,
    *,
    prior_exponent: float,
    robust: bool,
) -> CommonEstimate:
    """Return the distribution nearest to all groups' estimates, with variances at p ``before``."""
    p = np.maximum(before, 0.25 / views.users)
    plain, corrected, variance = _opt_in_at(p, views, rare, prior_exponent)
    opted_in = 1 - views.sampled
    one_user = opted_in / views.users
    others = opted_in + clients.relay_reports * one_user
    said = local = ClientsAtP.local(clients, views, p, others)
    relayed = None
    if clients.relayed:
        others = opted_in + clients.local_reports * one_user
        relayed = ClientsAtP.relayed(clients.relayed, views, p, others)
        said = local.joined(relayed)
    between = 0.0
    if robust and clients.reports:
        between = between_group_variance(query_totals(p, views, said, clients.reports))
    opt_in_variance = variance + between * p**2
    v = 1 / (1 / opt_in_variance + 1 / said.v)
    x = (corrected / opt_in_variance + said.x / said.v) * v
    return CommonEstimate(
        p=reconcile(x, v, views.cells, said.y, said.v_q),
        opt_in=corrected,
        opt_in_variance=opt_in_variance,
        prior_shift=plain - corrected,
        clients=said,
        local=local,
        relayed=relayed,
        variance=v,
        between_group_variance=between,
    )


def _opt_in_at(
    p: FloatArray, views: OptInViews, rare: RareRecords, prior_exponent: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the opt-in users' probabilities without and with the prior, and their variances.

    Far above the threshold the posterior mean under the prior μ^(-a) is Y - a·v/Y, to first order.
    """
    n_o = views.users
    y, variance = views.combined(n_o * p)
    towards_prior = prior_exponent * variance / np.maximum(y, views.scaled_threshold)
    corrected = np.where(views.cells.is_listed, y - towards_prior, y)
    corrected[rare.cells], variance[rare.cells] = rare.mean, rare.variance
    return y / n_o, corrected / n_o, variance / n_o**2


def query_totals(p: FloatArray, views: OptInViews, said: ClientsAtP, reports: int) -> QueryTotals:
    """Return each group's estimates of the queries with n_O·P_q > 4τ, for the test of drift.

    For the opt-in users only E is used, because D was selected. Both groups count as samples of a
    wider population, so that the test compares the groups' habits, not only these users.
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
        client_variance=(client_variance + concentration * p_q * views.sampled / reports)[chosen],
        probability=p_q[chosen],
    )


def relay_totals(
    common: CommonEstimate, relayed: ClientsAtP, views: OptInViews, reports: int
) -> QueryTotals:
    """Return the same of relay clients, in the place of opt-in users, and local clients."""
    totals = query_totals(common.p, views, common.local, reports)
    cells, concentration = views.cells, views.whole_list.query_concentration
    said, variance = relayed.by_query(cells)
    wider = concentration * cells.by_query(common.p) * views.sampled / reports
    chosen = totals.queries
    return replace(totals, opt_in=said[chosen], opt_in_variance=(variance + wider)[chosen])
