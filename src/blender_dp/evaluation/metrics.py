"""The paper's two measures of an answer, fixed in detail (paper section 4.1).

Both leave out every cell with a ⋆ in it.
"""

import numpy as np

from blender_dp.core.cells import Cells, FloatArray, IntArray


def query_l1(estimate: FloatArray, truth: FloatArray) -> float:
    """Return Σ over listed queries of |p̂_q - p_q|; both vectors end with ⋆."""
    return float(np.abs(estimate - truth)[:-1].sum())


def record_l1(cells: Cells, estimate: FloatArray, truth: FloatArray) -> float:
    """Return Σ over listed records of |p̂ - p|, of vectors over all cells."""
    return float(np.abs(estimate - truth)[cells.is_listed].sum())


def ndcg(cells: Cells, estimate: FloatArray, truth: FloatArray) -> float:
    """Return the NDCG of the queries, each discounted by the NDCG of its URLs.

    Queries are ranked by their estimated mass on listed URLs, ties in byte order, and a query
    is worth 2^rel - 1 with rel its share of the true mass. A query without true mass gains
    nothing and its URL list counts as perfect. An empty list scores 0.
    """
    listed = cells.is_listed
    query = cells.query_of_cell[listed]
    k = cells.query_count - 1
    true_mass = np.bincount(query, weights=truth[listed], minlength=k)
    if k == 0 or not true_mass.sum() > 0:
        return 0.0
    url_ndcg = _ndcg_of_each_query(query, estimate[listed], truth[listed])
    estimated_mass = np.bincount(query, weights=estimate[listed], minlength=k)
    gain = 2.0 ** (true_mass / true_mass.sum()) - 1
    ranking = np.argsort(-estimated_mass, kind="stable")
    discount = 1 / np.log2(np.arange(2, k + 2))
    achieved = (gain * url_ndcg)[ranking] @ discount
    return float(achieved / (np.sort(gain)[::-1] @ discount))


def _ndcg_of_each_query(query: IntArray, estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return NDCG^q of every query's URL list."""
    mass = np.bincount(query, weights=truth)
    share = np.divide(truth, mass[query], out=np.zeros_like(truth), where=mass[query] > 0)
    gain = 2.0**share - 1
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    discount = 1 / np.log2(rank + 2.0)
    achieved = np.bincount(query, weights=gain[np.lexsort((-estimate, query))] * discount)
    ideal = np.bincount(query, weights=gain[np.lexsort((-truth, query))] * discount)
    return np.divide(achieved, ideal, out=np.ones_like(ideal), where=ideal > 0)
