"""Every record and every query as one group says it, less as the other does.

Of the opt-in users E alone: D was selected. Nothing here was shrunk, projected or blended.
"""

import numpy as np

from blender_dp.core.blend_probabilities.common_estimate import CommonEstimate
from blender_dp.core.client_views import ClientViews
from blender_dp.core.opt_in_views import OptInViews
from blender_dp.core.poisoning import Comparisons, Disagreement, find_disagreement


def disagreement(
    common: CommonEstimate, views: OptInViews, clients: ClientViews
) -> Disagreement | None:
    """Return whether a single record or query sets the groups apart; None without reports.

    Items are the cells, then the queries; ⟨q,⋆⟩, ⟨⋆,⋆⟩ and ⋆ are not compared.
    """
    if not clients.reports:
        return None
    compared = _compared_items(views, common, clients)
    return find_disagreement(compared) if len(compared.items) else None


def _compared_items(views: OptInViews, common: CommonEstimate, clients: ClientViews) -> Comparisons:
    cells, lists, release = views.cells, views.whole_list, views.release
    said, n_o = common.clients, release.users
    y, v_q = said.by_query(cells)
    is_query = np.arange(cells.query_count) < cells.query_count - 1  # without ⋆
    concentration = np.repeat(
        [lists.record_concentration, lists.query_concentration],
        [cells.cell_count, cells.query_count],
    )
    p = np.concatenate([common.p, cells.by_query(common.p)])
    noise = np.concatenate([release.sum_variance, cells.by_query(release.sum_variance)])
    client_variance = np.concatenate([said.v, v_q])
    items = np.flatnonzero(
        np.concatenate([cells.is_listed, is_query]) & np.isfinite(client_variance)
    )
    mu = n_o * p
    sums = np.concatenate([release.sums, cells.by_query(release.sums)])
    # As in the test of drift, both groups are samples of a wider population.
    drawn = concentration * p * views.sampled / clients.reports
    draws = noise / release.sum_variance[0] if release.branch == "laplace" else 0 * noise
    return Comparisons(
        items=items,
        difference=(sums - n_o * np.concatenate([said.x, y]))[items],
        sample_variance=np.maximum(concentration * mu - mu**2 / n_o, 0.01 * mu)[items],
        client_variance=n_o**2 * (client_variance + drawn)[items],
        noise_variance=noise[items],
        noise_draws=draws[items],
    )
