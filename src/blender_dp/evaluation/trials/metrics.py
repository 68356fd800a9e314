"""Measures of the distance between estimates and truth: the paper's two, and others.

The paper's are NDCG and L1 (section 4.1). All leave out every cell with a ⋆ in it, but NDCG counts
⟨q,⋆⟩ of a query that is listed without URLs. A measure without a value, such as a mean over an
empty list, is NaN.
"""

import math
from typing import NamedTuple

import numpy as np

from blender_dp.core.head_list.cells import BoolArray, Cells, FloatArray, IntArray


def query_l1(estimate: FloatArray, truth: FloatArray) -> float:
    """Return Σ over listed queries of |p̂_q - p_q|; both vectors end with ⋆."""
    return float(np.abs(estimate - truth)[:-1].sum())


def record_l1(cells: Cells, estimate: FloatArray, truth: FloatArray) -> float:
    """Return Σ over listed records of |p̂ - p|, of vectors over all cells."""
    return float(np.abs(estimate - truth)[cells.is_listed].sum())


def query_l1_rescaled(estimate: FloatArray, truth: FloatArray) -> float:
    """Return the L1 of the listed queries, each vector rescaled to sum one over them.

    It compares shapes: a factor that all estimates share does not count. Both vectors end with ⋆.
    """
    return _l1_of_shares(estimate[:-1], truth[:-1])


def record_l1_rescaled(cells: Cells, estimate: FloatArray, truth: FloatArray) -> float:
    """Return the L1 of the listed records, each vector rescaled to sum one over them."""
    listed = cells.is_listed
    return _l1_of_shares(estimate[listed], truth[listed])


def _l1_of_shares(estimate: FloatArray, truth: FloatArray) -> float:
    """Return the L1 of two vectors rescaled to sum one, if both have a positive sum."""
    estimated_mass, true_mass = estimate.sum(), truth.sum()
    if not (estimated_mass > 0 and true_mass > 0):
        return math.nan
    return float(np.abs(estimate / estimated_mass - truth / true_mass).sum())


def record_rmse(cells: Cells, estimate: FloatArray, truth: FloatArray) -> float:
    """Return √(mean over listed records of (p̂ - p)²)."""
    error = (estimate - truth)[cells.is_listed]
    return float(np.sqrt(np.mean(error**2))) if error.size else math.nan


def recall_at(k: int, truth: FloatArray, is_listed: BoolArray) -> float:
    """Return the share of the truly ``k`` most popular items that are listed.

    Both arrays have one entry for every item there is, records or queries, listed or not. Items
    that tie for the last of the k places are interchangeable. Items
    that no user has are not popular, so there may be fewer than k items.
    """
    places = min(k, int(np.count_nonzero(truth > 0)))
    if places == 0:
        return math.nan
    last = np.partition(truth, -places)[-places]
    above, tied = truth > last, truth == last
    open_places = places - np.count_nonzero(above)
    found = np.count_nonzero(above & is_listed)
    return float(found + min(np.count_nonzero(tied & is_listed), open_places)) / places


def l1_at(k: int, estimate: FloatArray, truth: FloatArray) -> float:
    """Return Σ |p̂ - p| over the ``k`` truly most popular items; p̂ is 0 for items not listed.

    Unlike L1 over the listed items, it can compare lists of different sizes.
    """
    if not (places := min(k, len(truth))):
        return 0.0
    last = np.partition(truth, -places)[-places]  # sorting all of them would take far longer
    above = np.flatnonzero(truth > last)
    tied = np.flatnonzero(truth == last)[: places - len(above)]
    top = np.concatenate([above, tied])
    return float(np.abs(estimate[top] - truth[top]).sum())


def rare_half_bias(cells: Cells, estimate: FloatArray, truth: FloatArray) -> float:
    """Return the error of the sum over the less popular half of the listed records.

    The error is relative to the true sum; NaN if that is 0. Estimates decide which half.
    """
    p_hat, p = estimate[cells.is_listed], truth[cells.is_listed]
    if not len(p_hat):
        return math.nan
    rare = p_hat <= np.median(p_hat)
    mass = p[rare].sum()
    return float(p_hat[rare].sum() / mass - 1) if mass > 0 else math.nan


class Coverage(NamedTuple):
    """Share of intervals that hold the truth."""

    share: float
    """Share among the items that have an interval."""
    without_interval: int
    """Number of items without an interval: their variance estimate is negative (flaw F1)."""


def coverage(interval: tuple[FloatArray, FloatArray], truth: FloatArray) -> Coverage:
    """Return the share of items whose [low, high] holds the truth, bounds included."""
    low, high = interval
    known = ~(np.isnan(low) | np.isnan(high))
    without = int(np.count_nonzero(~known))
    if not known.any():
        return Coverage(math.nan, without)
    holds = (low[known] <= truth[known]) & (truth[known] <= high[known])
    return Coverage(float(holds.mean()), without)


def ndcg(cells: Cells, estimate: FloatArray, truth: FloatArray) -> float:
    """Return the NDCG of the queries, each discounted by the NDCG of its URLs.

    Queries are ranked by their estimated mass on listed URLs, or by all of it if they are listed
    without URLs; ties in byte order. The gain of a query is 2^rel - 1, where rel is its share of
    the true mass. A query without true mass gains nothing and its URL list counts as perfect. An
    empty list scores 0.
    """
    found = cells.is_discovered
    query = cells.query_of_cell[found]
    true_mass = np.bincount(query, weights=truth[found], minlength=cells.query_count - 1)
    return ndcg_against_best(cells, estimate, truth, best=true_mass.astype(np.float64))


def ndcg_against_best(
    cells: Cells, estimate: FloatArray, truth: FloatArray, best: FloatArray
) -> float:
    """Return the NDCG of the list relative to the best possible list.

    :func:`ndcg` measures only the order of the list, so a list of unpopular queries may score well.
    This measure also requires popular queries: a missing one gains nothing.

    Args:
        cells: The cells of the list.
        estimate: The value of each cell by which the list is ranked.
        truth: The true probability of each cell.
        best: The true probabilities of the queries of the best list, at most as many as the list
            may have.
    """
    found = cells.is_discovered
    query = cells.query_of_cell[found]
    k = cells.query_count - 1
    if k == 0 or not best.sum() > 0:
        return 0.0
    true_mass = np.bincount(query, weights=truth[found], minlength=k)
    url_ndcg = _ndcg_of_each_query(query, estimate[found], truth[found])
    estimated_mass = np.bincount(query, weights=estimate[found], minlength=k)
    ranking = np.argsort(-estimated_mass, kind="stable")
    gain = _gain(true_mass / best.sum()) * url_ndcg
    ideal = np.sort(_gain(best / best.sum()))[::-1]
    return float((gain[ranking] @ _discount(k)) / (ideal @ _discount(len(best))))


def _gain(relevance: FloatArray) -> FloatArray:
    return 2.0**relevance - 1


def _discount(places: int) -> FloatArray:
    discount: FloatArray = 1 / np.log2(np.arange(2.0, places + 2))
    return discount


def _ndcg_of_each_query(query: IntArray, estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return NDCG^q of every query's URL list."""
    mass = np.bincount(query, weights=truth)
    share = np.divide(truth, mass[query], out=np.zeros_like(truth), where=mass[query] > 0)
    gain = _gain(share)
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    discount = 1 / np.log2(rank + 2.0)
    achieved = np.bincount(query, weights=gain[np.lexsort((-estimate, query))] * discount)
    ideal = np.bincount(query, weights=gain[np.lexsort((-truth, query))] * discount)
    return np.divide(achieved, ideal, out=np.ones_like(ideal), where=ideal > 0)
