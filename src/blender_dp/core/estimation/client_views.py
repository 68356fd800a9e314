"""Views of the clients: estimates for records and for queries, and the share asked for each.

Every client sends one report. A local client's is about the query alone with probability φ, else
about the record; a relay client's is always about the record.
"""

from dataclasses import dataclass

import numpy as np

from blender_dp.core.channels.channel import Estimator
from blender_dp.core.estimation.consistency import posterior_variances
from blender_dp.core.head_list.cells import Cells, FloatArray

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

    def variance(
        self, p: FloatArray, concentration: float | FloatArray, others: float
    ) -> FloatArray:
        """Return the variance of the estimate if the truth is ``p``.

        Besides the channel's noise, each client draws one of its records, which adds p(1 - c)/n_g,
        and the clients are a sample of all users, which adds p·c·o/n_g if a share o of all users is
        in other groups.
        """
        drawn = p * (1 - concentration + concentration * others) / self.reports
        return self.channel.variance(p, self.reports) + drawn


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


def choose_query_share(
    cells: Cells,
    p: FloatArray,
    opt_in_variance: FloatArray,
    *,
    record_channel: Estimator,
    query_channel: Estimator,
    clients: int,
) -> float:
    """Return the φ with the least predicted sum of standard errors over listed records and queries.

    Post-processing of the opt-in users' release.

    Args:
        cells: The cells of the head list.
        p: The opt-in users' estimate, positive.
        opt_in_variance: Variance of p by cell, without the clients.
        record_channel: Randomises a record, over all cells.
        query_channel: Randomises a query, over all queries.
        clients: n_C.
    """
    p_q = cells.by_query(p)

    def predicted_errors(share: float) -> float:
        asked_query = round(share * clients)
        v_c = record_channel.variance(p, clients - asked_query)
        v_q = query_channel.variance(p_q, asked_query) if asked_query else None
        by_cell, by_query = posterior_variances(1 / (1 / opt_in_variance + 1 / v_c), cells, v_q)
        return float(np.sqrt(by_cell[cells.is_listed]).sum() + np.sqrt(by_query[:-1]).sum())

    possible = [share for share in QUERY_SHARES if round(share * clients) < clients]
    if cells.query_count == 1 or not possible:
        return QUERY_SHARES[0]
    return min(possible, key=predicted_errors)
