"""Views of the clients: estimates for records and for queries, and the share asked for each.

Every client sends one report. A local client's is about the query alone with probability φ, else
about the record; a relay client's is always about the record.
"""

from dataclasses import dataclass

import numpy as np

from blender_dp.core.channels.channel import Estimator
from blender_dp.core.estimation.consistency import posterior_variances
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.target import around_target
from blender_dp.core.head_list.cells import FloatArray

QUERY_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
"""Values among which φ is chosen; never 1: some reports must check the opt-in users' records."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClientView:
    """Estimates from the reports to one question."""

    estimate: FloatArray
    """Unbiased shares of the cells, or of the queries; some may be negative."""
    channel: Estimator
    reports: int
    """n_g: number of clients that answered this question, at least one."""

    def variance(self, p: FloatArray) -> FloatArray:
        """Return the variance of the estimate in a wider population with shares ``p``."""
        return report_variance(self.channel, p, self.reports)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClientViews:
    """Estimates from all reports; any kind of report may be missing."""

    records: ClientView | None = None
    queries: ClientView | None = None
    relayed: ClientView | None = None
    """Estimates from relay clients, of the records."""

    @property
    def local_reports(self) -> int:
        """Number of clients who reported directly, once each."""
        return sum(view.reports for view in (self.records, self.queries) if view)

    @property
    def relay_reports(self) -> int:
        """Number of clients who reported through a relay, once each."""
        return self.relayed.reports if self.relayed else 0

    @property
    def reports(self) -> int:
        """n_C, one report per client."""
        return self.local_reports + self.relay_reports


def report_variance(channel: Estimator, p: FloatArray, reports: int) -> FloatArray:
    """Return the variance of an estimate by reports, in a wider population with shares ``p``.

    Besides the channel's noise, each client is drawn, and one of its records: together p/n_g. What
    is missing to a multinomial count, -p²/n_g, comes from Σp = 1 in the blend.
    """
    return channel.variance(p, reports) + p / reports


def choose_query_share(
    views: OptInViews, *, record_channel: Estimator, query_channel: Estimator, clients: int
) -> float:
    """Return the φ with the least predicted sum of standard errors over listed records and queries.

    Post-processing of the opt-in users' release. Without URLs both questions are the same.

    Args:
        views: The opt-in users' released data, among the n users whose mean is estimated.
        record_channel: Randomises a record, over all cells.
        query_channel: Randomises a query, over all queries.
        clients: n_C.
    """
    cells, n_o, p = views.cells, views.users, views.start()
    v_o = views.combined(n_o * p)[1] / n_o**2
    p_q, target = cells.by_query(p), views.target_variance(p)

    def predicted_errors(share: float) -> float:
        asked_query = round(share * clients)
        v_c = report_variance(record_channel, p, clients - asked_query)
        v_q = report_variance(query_channel, p_q, asked_query) if asked_query else None
        by_cell, by_query = posterior_variances(1 / (1 / v_o + 1 / v_c), cells, v_q)
        of_records = around_target(by_cell, target)[cells.is_listed]
        of_queries = around_target(by_query, cells.by_query(target))[:-1]
        return float(np.sqrt(of_records).sum() + np.sqrt(of_queries).sum())

    possible = [share for share in QUERY_SHARES if round(share * clients) < clients]
    if cells.query_count == cells.cell_count or not possible:
        return QUERY_SHARES[0]
    return min(possible, key=predicted_errors)
