"""EstimateClientProbabilities of the ``sharp`` preset: each question is estimated by itself.

Privacy: the reports are private when they arrive; this is post-processing.
"""

import numpy as np

from blender_dp.core.channels.channel import Estimator
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.errors import BlenderError
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.estimates import Estimate, GroupEstimates
from blender_dp.core.head_list.cells import Cells, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import Clients, ReportCounts


def estimate_client_probabilities(clients: Clients, head_list: HeadList) -> GroupEstimates:
    """Return the clients' estimates on the cells and queries of ``head_list``."""
    reports = clients.report_counts(head_list)
    if not reports.cell_reports and head_list.relay is not None:
        return _nothing(head_list.cells)  # all clients use the relay
    return client_estimates(reports, head_list.cells, head_list.mechanism)


def client_estimates(reports: ReportCounts, cells: Cells, mechanism: Mechanism) -> GroupEstimates:
    """Remove the known bias of the mechanism from the counts of reports.

    The variances are computed at the estimates themselves, for display. The blend computes them at
    a common p, from ``evidence``.
    """
    estimators = mechanism.estimators(cells)
    if reports.cell_reports < 1:
        raise BlenderError("one report on a record or more is needed for an estimate; got 0")
    records = _view(reports.cells, reports.cell_reports, estimators["record"])
    queries = None
    if reports.query_reports:
        queries = _view(reports.queries, reports.query_reports, estimators["query"])
    return GroupEstimates(
        cells=_estimates(records, cells.cell_count),
        queries=_estimates(queries, cells.query_count),
        counts=reports.cells,
        total=reports.cell_reports,
        evidence=ClientViews(records=records, queries=queries),
    )


def _nothing(cells: Cells) -> GroupEstimates:
    return GroupEstimates(
        cells=_estimates(None, cells.cell_count),
        queries=_estimates(None, cells.query_count),
        counts=np.zeros(cells.cell_count, dtype=np.int64),
        total=0,
        evidence=ClientViews(),
    )


def _view(counts: IntArray, reports: int, estimator: Estimator) -> ClientView:
    estimate = estimator.estimate(counts, reports)
    return ClientView(estimate=estimate, channel=estimator, reports=reports)


def _estimates(view: ClientView | None, items: int) -> Estimate:
    """Return the estimates of one question; NaN if no client was asked."""
    if view is None:
        nothing = np.full(items, np.nan)
        return Estimate(probability=nothing, variance=nothing)
    p = view.estimate
    return Estimate(probability=p, variance=view.channel.variance(np.clip(p, 0, 1), view.reports))
