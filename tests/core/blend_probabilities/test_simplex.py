"""The projection onto the simplex: on it, nearest, idempotent, and without changing the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from blender_dp.core.blend_probabilities.paper import project
from blender_dp.core.head_list.cells import FloatArray

vectors = arrays(np.float64, st.integers(1, 30), elements=st.floats(-100, 100))
estimates = arrays(np.float64, st.integers(1, 30), elements=st.floats(-0.2, 1.2))


def by_bisection(v: FloatArray) -> FloatArray:
    """Search for the constant whose subtraction leaves a sum of one; slow and plain."""
    low, high = v.min() - 1, v.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(v - middle, 0).sum() > 1 else (low, middle)
    found: FloatArray = np.maximum(v - (low + high) / 2, 0)
    return found


@given(v=vectors)
def test_the_result_is_a_distribution(v: FloatArray) -> None:
    p = project(v)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-11)


@given(v=vectors)
def test_it_agrees_with_a_plain_search(v: FloatArray) -> None:
    assert project(v) == pytest.approx(by_bisection(v), abs=1e-11)


@given(v=estimates, draw=st.integers(0, 10**6))
def test_no_other_distribution_is_nearer(v: FloatArray, draw: int) -> None:
    """By the obtuse angle at the nearest point of a convex set: (v-p)·(q-p) ≤ 0 for all q."""
    p = project(v)
    corners = np.eye(len(v))
    others = np.random.default_rng(draw).dirichlet(np.ones(len(v)), 20)
    for q in (*corners, *others):
        assert (v - p) @ (q - p) <= 1e-12


@given(v=vectors)
def test_projecting_twice_changes_nothing(v: FloatArray) -> None:
    once = project(v)
    assert project(once) == pytest.approx(once, abs=1e-13)


@given(v=vectors)
def test_the_order_is_preserved(v: FloatArray) -> None:
    order = np.argsort(v, kind="stable")
    assert (np.diff(project(v)[order]) >= 0).all()


@given(v=estimates, constant=st.floats(-10, 10))
def test_a_constant_added_to_all_makes_no_difference(v: FloatArray, constant: float) -> None:
    assert project(v + constant) == pytest.approx(project(v), abs=1e-12)


@given(v=estimates)
def test_what_is_positive_moves_by_one_constant(v: FloatArray) -> None:
    p = project(v)
    moved = (v - p)[p > 0]
    assert moved == pytest.approx(moved[0], abs=1e-12)
    assert (v[p == 0] <= moved[0] + 1e-12).all()


@pytest.mark.parametrize(
    ("v", "p"),
    [
        ([5.0], [1.0]),
        ([-3.0], [1.0]),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([0.6, 0.6, -0.2], [0.5, 0.5, 0.0]),
        ([1.0, 1.0, 1.0, 1.0], [0.25] * 4),
        ([0.0, 0.0], [0.5, 0.5]),
        ([2.0, 0.5, -7.0], [1.0, 0.0, 0.0]),
    ],
)
def test_by_hand(v: list[float], p: list[float]) -> None:
    assert project(np.array(v)).tolist() == pytest.approx(p)


def test_three_thousand_cells_are_projected() -> None:
    v = np.random.default_rng(0).normal(1 / 3000, 0.01, 3000)
    p = project(v)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert p == pytest.approx(by_bisection(v), abs=1e-12)


@pytest.mark.parametrize("huge", [1e16, -1e16, 1e300])
def test_huge_entries_are_projected_too(huge: float) -> None:
    """A weight near the pole of flaw F1 can make them."""
    projected = project(np.array([huge, 0.1, 0.2]))
    assert projected.sum() == pytest.approx(1)
    assert projected.min() >= 0
