"""The distribution on the cells that agrees best with noisy estimates of cells and of queries.

Least squares weighted by the variances, under p ≥ 0 and Σp = 1. So the result is a distribution,
and a part of the noise averages out. v and x belong to cells, v_q and y
to queries.
"""

import numpy as np

from blender_dp.core.head_list.cells import BoolArray, Cells, FloatArray, IntArray


def reconcile(
    x: FloatArray,
    v: FloatArray,
    cells: Cells,
    y: FloatArray | None = None,
    v_q: FloatArray | None = None,
) -> FloatArray:
    """Return argmin Σ(p - x)²/v + Σ_q (P_q - y)²/v_q over p ≥ 0, Σp = 1; P_q adds up q's cells.

    With the cells known where p > 0 the solution has a closed form. A cell that comes out
    negative in it is zero in the end: the errors of two cells are never positively correlated, so
    raising one cell to zero lowers all others, and no cell once negative comes back
    (Chandrasekaran, "A special case of the complementary pivot problem", Opsearch 7, 1970). So
    cells are only ever dropped, and the loop ends.

    Args:
        x: Estimates by cell.
        v: Their variances, positive.
        cells: The cells of the head list.
        y: Further estimates by query, if there are any.
        v_q: Their variances, positive; infinite where there is no such estimate.
    """
    if y is None or v_q is None:
        y, v_q = np.zeros(cells.query_count), np.full(cells.query_count, np.inf)
    positive = np.ones(cells.cell_count, dtype=np.bool_)
    while True:
        p = _solve_on(positive, x, v, cells, y, v_q)
        if (p >= 0).all():
            p /= p.sum()  # already one, up to rounding
            return p
        positive &= p >= 0


def _solve_on(
    free: BoolArray, x: FloatArray, v: FloatArray, cells: Cells, y: FloatArray, v_q: FloatArray
) -> FloatArray:
    """Return the solution in which only the ``free`` cells may differ from zero, and be negative.

    p = x + v·t with t = λ + (y - P_q)/v_q and P_q = X + s·t, so t = (λ + (y - X)/v_q)/(1 + s/v_q);
    λ makes the sum one.
    """
    s = cells.by_query(np.where(free, v, 0.0))
    X = cells.by_query(np.where(free, x, 0.0))  # noqa: N806 - the sum of the x, as s of the v
    g = 1 / (1 + s / v_q)
    pull = (y - X) / v_q
    lam = (1 - (X + s * g * pull).sum()) / (s * g).sum()
    t = (lam + pull) * g
    return np.where(free, x + v * t[cells.query_of_cell], 0.0)


def posterior_variances(
    v: FloatArray, cells: Cells, v_q: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the variances of the result of :func:`reconcile`, by cell and by query, without p ≥ 0.

    With s the sum of v over a query, G = 1/(v_q + s), b = v·(1 - G·s) and T = Σb::

        Var p = v - G·v² - b²/T        Var P_q = s - G·s² - b_q²/T

    written below without differences, so that one large variance causes no loss of precision.
    """
    q = cells.query_of_cell
    s = cells.by_query(v)
    over = np.zeros_like(s) if v_q is None else 1 / v_q
    left = 1 / (1 + s * over)  # 1 - G·s, while G is left·over
    b, b_q = v * left[q], s * left
    total = b_q.sum()
    within_query = v * _sum_of_others(v, q) * (left * over)[q]
    return b * _share_of_others(b, total) + within_query, b_q * _share_of_others(b_q, total)


def _share_of_others(values: FloatArray, total: float) -> FloatArray:
    everything = np.zeros(len(values), dtype=np.int64)
    return _sum_of_others(values, everything) / total


def _sum_of_others(values: FloatArray, group: IntArray) -> FloatArray:
    """Return the sum of the other values in each value's group."""
    total = np.bincount(group, weights=values)[group]
    dominant = values > total / 2  # at most one in a group; total - value would cancel for it
    rest = np.bincount(group, weights=np.where(dominant, 0.0, values))[group]
    return np.where(dominant, rest, total - values)
