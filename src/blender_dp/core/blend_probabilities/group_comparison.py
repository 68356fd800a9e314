"""Differences between the two groups, for every record and every query.

The estimates are not shrunk, projected or blended. To test for too large opt-in estimates, only E
is used, because D was selected. To test for too large client estimates, D and E are used together:
selection only raises the opt-in estimates.
"""

import numpy as np

from blender_dp.core.blend_probabilities.common_estimate import CommonEstimate
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.poisoning import (
    Comparisons,
    Disagreement,
    Pushes,
    find_disagreement,
)
from blender_dp.core.estimation.pushed_law import PushedLaw
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray


def disagreement(
    common: CommonEstimate, views: OptInViews, clients: ClientViews
) -> Disagreement | None:
    """Return whether the groups differ in a single record or query; None without reports.

    Items are the cells, then the queries; ⟨q,⋆⟩, ⟨⋆,⋆⟩ and ⋆ are not compared.
    """
    if not clients.reports:
        return None
    compared = _compared_items(views, common)
    if not len(compared.items):
        return None
    return find_disagreement(compared, _pushes(compared, views, common, clients))


def _compared_items(views: OptInViews, common: CommonEstimate) -> Comparisons:
    cells, said, n_o = views.cells, common.clients, views.users
    y, v_q = said.by_query(cells)
    is_query = np.arange(cells.query_count) < cells.query_count - 1  # without ⋆
    concentration = _concentrations(views)
    p = np.concatenate([common.p, cells.by_query(common.p)])
    noise = np.concatenate([views.sum_variance, cells.by_query(views.sum_variance)])
    client_variance = np.concatenate([said.v, v_q])
    items = np.flatnonzero(
        np.concatenate([cells.is_listed, is_query]) & np.isfinite(client_variance)
    )
    mu = n_o * p
    sums = np.concatenate([views.sums, cells.by_query(views.sums)])
    draws = noise / views.sum_variance[0] if views.branch == "laplace" else 0 * noise
    return Comparisons(
        items=items,
        difference=(sums - n_o * np.concatenate([said.x, y]))[items],
        sample_variance=np.maximum(concentration * mu - mu**2 / n_o, 0.01 * mu)[items],
        client_variance=n_o**2 * client_variance[items],
        noise_variance=noise[items],
        noise_draws=draws[items],
    )


def _pushes(
    compared: Comparisons, views: OptInViews, common: CommonEstimate, clients: ClientViews
) -> Pushes:
    """Return how much the clients' estimates exceed those of the opt-in users, from D and E."""
    cells, said = views.cells, common.clients
    n_o, is_laplace = views.users, views.branch == "laplace"
    concentration = _concentrations(views)
    mu = n_o * common.p
    w = views.value_weight(mu)
    together = w * views.scaled_values + (1 - w) * views.sums
    # The normal part: D around E, and all noise of the gauss branch.
    normal = w**2 * views.difference_variance(mu)
    if not is_laplace:
        normal += w**2 * views.scaled_variance + (1 - w) ** 2 * views.sum_variance
    y, _ = said.by_query(cells)
    item, cell = _pieces(compared.items, cells)
    return Pushes(
        excess=n_o * np.concatenate([said.x, y])[compared.items]
        - _added_up(item, together[cell], len(compared.items)),
        law=PushedLaw(
            normal_variance=compared.client_variance
            + _added_up(item, normal[cell], len(compared.items)),
            sample_variance=compared.sample_variance,
            share=concentration[compared.items],
            item=item,
            value_weight=w[cell],
            sum_scale=((1 - w) * np.sqrt(views.sum_variance / 2) * is_laplace)[cell],
            slopes=views.slopes if is_laplace else None,
        ),
        bias=np.maximum(_added_up(item, (together - mu)[cell], len(compared.items)), 0.0),
        is_record=compared.items < cells.cell_count,
        opt_in_users=n_o,
        fake_weight=_fake_weight(common, clients),
    )


def _fake_weight(common: CommonEstimate, clients: ClientViews) -> float:
    """Return how many of all clients a fake report counts for on the record that it names.

    In the group where it counts most: by the channel, by the size of the group, and by its weight
    among all clients.
    """
    local, relayed = clients.records, clients.relayed
    weights = []
    if local:
        weight = float(np.max(common.clients.v / common.local.v))
        weights.append(local.channel.fake_weight * weight * clients.reports / clients.local_reports)
    if relayed and common.relayed:
        weight = float(np.max(common.clients.v / common.relayed.v))
        weights.append(relayed.channel.fake_weight * weight * clients.reports / relayed.reports)
    return max(weights, default=0.0)


def _concentrations(views: OptInViews) -> FloatArray:
    """Return the concentration of every item: first the cells, then the queries."""
    of, cells = views.whole_list, views.cells
    return np.repeat(
        [of.record_concentration, of.query_concentration], [cells.cell_count, cells.query_count]
    )


def _pieces(items: IntArray, cells: Cells) -> tuple[IntArray, IntArray]:
    """Return the cells of every item: one for a record, all for a query."""
    counts = np.append(np.ones(cells.cell_count, dtype=np.int64), cells.urls_per_query)[items]
    first = np.append(np.arange(cells.cell_count), cells.first_cell)[items]
    item = np.repeat(np.arange(len(items)), counts)
    start = np.repeat(np.cumsum(counts) - counts, counts)
    return item, np.repeat(first, counts) + np.arange(counts.sum()) - start


def _added_up(item: IntArray, values: FloatArray, items: int) -> FloatArray:
    total: FloatArray = np.bincount(item, values, minlength=items).astype(np.float64)
    return total
