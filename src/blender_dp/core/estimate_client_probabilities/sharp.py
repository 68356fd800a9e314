"""EstimateClientProbabilities for subset selection: each question is estimated by itself.

Privacy: the reports are private when they arrive; this is post-processing.
"""

import numpy as np

from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetChannels
from blender_dp.core.errors import BlenderError
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.estimates import Estimate, GroupEstimates
from blender_dp.core.head_list.cells import Cells, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import Clients, ReportCounts


def estimate_client_probabilities(clients: Clients, head_list: HeadList) -> GroupEstimates:
    """Return the clients' estimates on the cells and queries of ``head_list``."""
    reports = clients.report_counts(head_list)
    return client_estimates(reports, head_list.cells, head_list.mechanism)


def client_estimates(reports: ReportCounts, cells: Cells, mechanism: Mechanism) -> GroupEstimates:
    """Undo the known bias of subset selection in what the reports name.

    The variances are taken at the estimates themselves, for display; what combines estimates
    takes them at a common p, from ``evidence``.
    """
    channels = SubsetChannels.of(cells, mechanism)
    if reports.cell_reports < 1:
        raise BlenderError("one report on a record or more is needed for an estimate; got 0")
    return GroupEstimates(
        cells=_estimates(reports.cells, reports.cell_reports, channels.records),
        queries=_estimates(reports.queries, reports.query_reports, channels.queries),
        counts=reports.cells,
        total=reports.cell_reports,
        evidence=ClientViews(
            records=_view(reports.cells, reports.cell_reports, channels.records),
            queries=_view(reports.queries, reports.query_reports, channels.queries),
        ),
    )


def _view(counts: IntArray, reports: int, channel: SubsetChannel) -> ClientView | None:
    if not reports:
        return None
    return ClientView(estimate=channel.estimate(counts, reports), channel=channel, reports=reports)


def _estimates(counts: IntArray, reports: int, channel: SubsetChannel) -> Estimate:
    """Return the estimates of one question; not a number where nobody was asked."""
    if not reports:
        nothing = np.full(len(counts), np.nan)
        return Estimate(probability=nothing, variance=nothing)
    p = channel.estimate(counts, reports)
    return Estimate(probability=p, variance=channel.variance(np.clip(p, 0, 1), reports))
