"""The mean over all users as the target: what disjoint groups have in common is subtracted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

from blender_dp.core.estimation.target import around_target, target_variance
from blender_dp.core.head_list.cells import FloatArray


def fitted(h: FloatArray, covariance: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Generalised least squares: the estimate and its covariance."""
    weighed = np.linalg.solve(covariance, h)
    result = np.linalg.inv(h.T @ weighed)
    return result @ weighed.T @ x, result


@given(
    sizes=st.lists(st.integers(5, 200), min_size=1, max_size=4),
    others=st.integers(0, 500),
    seed=st.integers(0, 10**6),
)
def test_independent_groups_give_the_estimate_of_disjoint_ones(
    sizes: list[int], others: int, seed: int
) -> None:
    """The theorem, on any covariance of users, any noise and any linear measurement."""
    rng = np.random.default_rng(seed)
    cells, n = 4, sum(sizes) + others
    root = rng.normal(size=(cells, cells))
    sigma = root @ root.T
    parts = [rng.normal(size=(cells, cells)) + 2 * np.eye(cells) for _ in sizes]
    h = np.vstack(parts)
    noise = np.diag(rng.uniform(0.1, 2, len(h)))
    independent = noise + block_diag(
        *(part @ sigma @ part.T / size for part, size in zip(parts, sizes, strict=True))
    )
    disjoint = independent - h @ sigma @ h.T / n
    x = rng.normal(size=len(h))
    estimate, covariance = fitted(h, independent, x)
    right, right_covariance = fitted(h, disjoint, x)
    assert estimate == pytest.approx(right, rel=1e-6, abs=1e-6)
    assert covariance - sigma / n == pytest.approx(right_covariance, rel=1e-6, abs=1e-6)


def test_the_covariances_of_disjoint_groups_by_counting() -> None:
    """All 30 ways to put two of six users into one group and one into another."""
    shares = np.array([0.0, 0.1, 0.2, 0.5, 0.9, 1.0])
    n, sizes = len(shares), (2, 1)
    errors = [
        ((shares[i] + shares[j]) / 2 - shares.mean(), shares[k] - shares.mean())
        for i in range(n)
        for j in range(i)
        for k in range(n)
        if k not in (i, j)
    ]
    found = np.cov(np.array(errors).T, bias=True)
    sigma = shares.var() * n / (n - 1)
    expected = np.diag([sigma / size for size in sizes]) - sigma / n
    assert found == pytest.approx(expected)


def test_the_variance_of_the_target_by_hand() -> None:
    """c = 0.4, n = 100: (0.4·0.2 - 0.04)/100. Above p = c nothing is known to be saved."""
    p = np.array([0.2, 0.4, 0.5, 0.0])
    assert target_variance(p, 0.4, 100) == pytest.approx([0.0004, 0, 0, 0])
    assert target_variance(p, 1.0, float("inf")) == pytest.approx(np.zeros(4))


def test_a_variance_never_vanishes() -> None:
    found = around_target(np.array([3.0, 2.0, 1.0, 0.0]), np.array([1.0, 2.0, 5.0, 0.0]))
    assert found == pytest.approx([2, 2e-6, 1e-6, 0])
