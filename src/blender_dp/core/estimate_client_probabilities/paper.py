"""EstimateClientProbabilities as the paper states it (Fig. 5, ``fig:client-alg``).

Privacy: the reports are private when they arrive (LocalAlg); this is post-processing.
"""

import numpy as np

from blender_dp.core.channels.local_alg import LocalAlgChannel
from blender_dp.core.errors import BlenderError
from blender_dp.core.estimation.estimates import Estimate, GroupEstimates
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import Clients


def estimate_client_probabilities(clients: Clients, head_list: HeadList) -> GroupEstimates:
    """Return the clients' p̂_C and σ̂²_C on the cells and queries of ``head_list``.

    Paper: Fig. 5, all lines; ⋆ of lines 1-3 is part of every head list's cells.
    """
    channel = LocalAlgChannel.of(head_list.cells, head_list.mechanism)
    return client_estimates(clients.report_counts(head_list).cells, channel)


def client_estimates(reports: IntArray, channel: LocalAlgChannel) -> GroupEstimates:
    """Undo the known bias of LocalAlg in the reported shares (``observation:client-denoising``)."""
    n = int(reports.sum())
    cells = channel.cells
    if cells.query_count == 1:  # only ⟨⋆,⋆⟩ exists, which needs no report (reading R3)
        certain = Estimate(probability=np.ones(1), variance=np.zeros(1))
        return GroupEstimates(cells=certain, queries=certain, counts=reports, total=n)
    if n < 2:
        raise BlenderError(f"two reports or more are needed for an estimate; got {n}")
    r_hat = reports / n
    queries = _query_estimates(cells.by_query(r_hat), n, channel)
    return GroupEstimates(
        cells=_record_estimates(r_hat, queries, n, channel),
        queries=queries,
        counts=reports,
        total=n,
    )


def _query_estimates(r_hat: FloatArray, n: int, channel: LocalAlgChannel) -> Estimate:
    """Return p̂_C,q and σ̂²_C,q (lines 12-13)."""
    t, k = channel.t, channel.cells.query_count
    lie = (1 - t) / (k - 1)
    return Estimate(
        probability=(r_hat - lie) / (t - lie),
        variance=r_hat * (1 - r_hat) / (n - 1) / (t - lie) ** 2,
    )


def _record_estimates(
    r_hat: FloatArray, queries: Estimate, n: int, channel: LocalAlgChannel
) -> Estimate:
    """Return p̂_C,⟨q,u⟩ and σ̂²_C,⟨q,u⟩ (lines 16-17, ``theorem:client-variance``)."""
    cells, t, t_q = channel.cells, channel.t, channel.t_q
    k, k_q = cells.query_count, cells.urls_per_query
    q = cells.query_of_cell
    # (1-t_q)/(k_q-1) is 0/0 for ⋆, whose only URL is ⋆: the quotient is 0 (reading R2).
    url_lie = np.divide(1 - t_q, k_q - 1, out=np.zeros(k), where=k_q > 1)
    query_lie = (1 - t) / (k - 1)
    kept = (t * url_lie)[q]  # another URL of this query, reported as this one
    strayed = (query_lie / k_q)[q]  # another query, reported as this record
    truth = t * (t_q - url_lie)[q]
    p_q, var_q = queries.probability[q], queries.variance[q]
    r_q = cells.by_query(r_hat)[q]

    p_hat = (r_hat - (kept * p_q + strayed * (1 - p_q))) / truth
    shift = strayed - kept
    covariance = r_hat * (1 - r_q) / (n * (t - query_lie))
    spread = r_hat * (1 - r_hat) / n + shift**2 * var_q + 2 * shift * covariance
    var_hat = n / (truth**2 * (n - 1)) * spread
    only_star = k_q[q] == 1
    return Estimate(
        probability=np.where(only_star, p_q, p_hat),
        variance=np.where(only_star, var_q, var_hat),
    )
