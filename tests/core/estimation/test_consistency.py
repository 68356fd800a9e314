"""The distribution nearest to noisy estimates: on the simplex, nearest, whatever the variances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from blender_dp.core.blend_probabilities.paper import project
from blender_dp.core.estimation.consistency import posterior_variances, reconcile
from blender_dp.core.head_list.cells import Cells, FloatArray


class Problem:
    """Estimates of cells and queries, with variances."""

    def __init__(self, urls: list[int], spread: float, level: float, seed: int) -> None:
        """Draw one: ``spread`` orders of magnitude between variances, x around ``level``."""
        rng = np.random.default_rng(seed)
        self.cells = Cells.of(urls)
        cell_count, k = self.cells.cell_count, self.cells.query_count
        self.x = level + rng.normal(0, 1, cell_count) * 10 ** rng.uniform(-3, 0)
        self.v = 10 ** rng.uniform(-spread, 0, cell_count)
        self.y = self.cells.by_query(self.x) + rng.normal(0, 0.1, k)
        self.v_q = 10 ** rng.uniform(-spread, 0, k)
        self.v_q[rng.random(k) < 0.2] = np.inf

    def solve(self) -> FloatArray:
        return reconcile(self.x, self.v, self.cells, self.y, self.v_q)

    def half_gradient(self, p: FloatArray) -> FloatArray:
        total = self.cells.by_query(p)
        gradient: FloatArray = (p - self.x) / self.v + ((total - self.y) / self.v_q)[
            self.cells.query_of_cell
        ]
        return gradient


def problems(spread: float) -> st.SearchStrategy[Problem]:
    return st.builds(
        Problem,
        st.lists(st.integers(1, 4), max_size=8),
        st.floats(0, spread),
        st.sampled_from([-0.5, 0.0, 0.1, 0.5]),
        st.integers(0, 10**6),
    )


@given(problem=problems(spread=20))
def test_the_result_is_a_distribution(problem: Problem) -> None:
    p = problem.solve()
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-12)


@given(problem=problems(spread=4))
def test_it_agrees_with_a_general_solver(problem: Problem) -> None:
    """Bounded least squares, the sum of one as a term of great weight."""
    cells = problem.cells
    by_query = (cells.query_of_cell == np.arange(cells.query_count)[:, None]).astype(np.float64)
    rows = np.vstack(
        [
            np.diag(problem.v**-0.5),
            by_query * problem.v_q[:, None] ** -0.5,
            1e6 * np.ones((1, cells.cell_count)),
        ]
    )
    right = np.concatenate([problem.x * problem.v**-0.5, problem.y * problem.v_q**-0.5, [1e6]])
    slow = lsq_linear(rows, right, bounds=(0, np.inf), method="bvls", tol=1e-15).x
    assert problem.solve() == pytest.approx(slow, abs=1e-5)


@given(problem=problems(spread=20))
def test_no_mass_would_be_better_elsewhere(problem: Problem) -> None:
    """Optimal: where p > 0 the gradient is one constant, elsewhere it is not below it.

    A gradient is known as well as p is, divided by the smaller variance; what rounding of p by
    2^-50 does to it is allowed for.
    """
    p = problem.solve()
    gradient = problem.half_gradient(p)
    q = problem.cells.query_of_cell
    size = 1 + np.abs(problem.x).max() + np.abs(problem.y).max()
    rounding = 2**-46 * size * (1 / problem.v + (1 / problem.v_q)[q])
    positive = p > 0
    assert (gradient - rounding)[positive].max() <= (gradient + rounding).min()


@given(problem=problems(spread=6), draw=st.integers(0, 10**6))
def test_no_other_distribution_is_nearer(problem: Problem, draw: int) -> None:
    """Convex: the gradient points away from every other distribution."""
    p = problem.solve()
    gradient = problem.half_gradient(p)
    rng = np.random.default_rng(draw)
    size = len(p)
    for other in (*np.eye(size)[:20], *rng.dirichlet(np.ones(size), 5)):
        assert gradient @ (other - p) >= -1e-7


def test_without_queries_and_with_equal_variances_it_is_the_projection() -> None:
    x = np.random.default_rng(0).normal(0.02, 0.05, 61)
    cells = Cells.of([2] * 20)
    assert reconcile(x, np.full(61, 0.3), cells) == pytest.approx(project(x), abs=1e-14)


def test_two_queries_by_hand() -> None:
    """x = (0.2, 0.2 | 0.6) already sums to 1; y pulls the first query from 0.4 to 0.6.

    With v = 1 and v_q = 1: t = λ + (y - P)/v_q, P = 0.4 + 2t. Mass can only come from ⟨⋆,⋆⟩, whose
    own y agrees with it: 2t = -t⋆, t = λ + 0.2 - 2t, t⋆ = λ - t⋆: t = λ/3 + 0.2/3, t⋆ = λ/2;
    2λ/3 + 0.4/3 + λ/2 = 0, λ = -4/35, t = 2/70 = 1/35, t⋆ = -2/35.
    """
    p = reconcile(
        np.array([0.2, 0.2, 0.6]), np.ones(3), Cells.of([1]), np.array([0.6, 0.6]), np.ones(2)
    )
    assert p.tolist() == pytest.approx([0.2 + 1 / 35, 0.2 + 1 / 35, 0.6 - 2 / 35])


@pytest.mark.parametrize("x", [-3.0, 0.0, 1.0, 40.0])
def test_one_cell_has_everything(x: float) -> None:
    cells = Cells.of([])
    assert reconcile(np.array([x]), np.array([2.0]), cells).tolist() == [1.0]
    by_cell, by_query = posterior_variances(np.array([2.0]), cells)
    assert by_cell.tolist() == by_query.tolist() == [0.0]


def test_cells_far_below_zero_leave_all_to_the_others() -> None:
    x = np.array([-1e6, -1e6, -1e6, -2e6, 0.5])
    p = reconcile(x, np.array([1e-12, 1.0, 1e8, 1e-3, 1.0]), Cells.of([1, 1]))
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-12)


def covariance(v: FloatArray, cells: Cells, v_q: FloatArray) -> FloatArray:
    """Condition a diagonal covariance on noisy query totals and on the sum, one after the other."""
    matrix = np.diag(v)
    rows = [(cells.query_of_cell == q).astype(float) for q in range(cells.query_count)]
    for row, noise in [*zip(rows, v_q, strict=True), (np.ones(len(v)), 0.0)]:
        if np.isfinite(noise):
            gain = matrix @ row / (row @ matrix @ row + noise)
            matrix = matrix - np.outer(gain, row @ matrix)
    return matrix


@given(problem=problems(spread=3))
def test_variances_are_those_of_conditioning_step_by_step(problem: Problem) -> None:
    matrix = covariance(problem.v, problem.cells, problem.v_q)
    by_cell, by_query = posterior_variances(problem.v, problem.cells, problem.v_q)
    scale = problem.v.max()
    assert by_cell == pytest.approx(np.diag(matrix), rel=1e-9, abs=1e-12 * scale)
    totals = [
        matrix[np.ix_(own, own)].sum()
        for own in (problem.cells.query_of_cell == q for q in range(problem.cells.query_count))
    ]
    assert by_query == pytest.approx(np.array(totals), rel=1e-9, abs=1e-11 * scale)


def test_one_large_variance_does_not_drown_the_others() -> None:
    """Of two cells that sum to one, the large one is known as well as the small one."""
    by_cell, by_query = posterior_variances(np.array([1e-20, 1e-24, 1.0]), Cells.of([1]))
    small = 1e-20 + 1e-24
    assert by_query.tolist() == pytest.approx([small, small], rel=1e-12)
    assert by_cell.tolist() == pytest.approx([1e-20, 1e-24, small], rel=1e-12)


def test_query_estimates_of_infinite_variance_say_nothing() -> None:
    cells = Cells.of([2, 1])
    x, v = np.array([0.3, -0.1, 0.2, 0.1, 0.2, 0.4]), np.array([1.0, 2.0, 3.0, 0.1, 0.2, 9.0])
    y, v_q = np.full(3, 0.7), np.full(3, np.inf)
    assert reconcile(x, v, cells, y, v_q).tolist() == reconcile(x, v, cells).tolist()
    for heard, alone in zip(
        posterior_variances(v, cells, v_q), posterior_variances(v, cells), strict=True
    ):
        assert heard.tolist() == alone.tolist()


def test_a_cell_that_falls_below_zero_only_later_is_dropped_too() -> None:
    """(0.7, 0.6, 0.1, -0.9) loses its last, then its third: (0.55, 0.45)."""
    p = reconcile(np.array([0.7, 0.6, 0.1, -0.9]), np.ones(4), Cells.of([2]))
    assert p.tolist() == pytest.approx([0.55, 0.45, 0, 0])
