"""The plan for Gaussian noise: the constants, the promise in exact arithmetic, and its limits."""

from dataclasses import replace
from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from blender_dp.core.curator import gaussian_plan as planning
from blender_dp.core.curator.gaussian_plan import (
    FAR_DELTA,
    FAR_OUT,
    LATTICE_SLACK,
    LEAST_SIGMA,
    MOST_EPSILON,
    TOUCHED,
    GaussianPlan,
    gaussian_plan,
    is_private,
    total_delta,
)
from blender_dp.core.errors import BrokenInvariantError, ParameterError
from blender_dp.core.exact.lattice import UNIT, weights
from blender_dp.core.exact.normal_tail import normal_tail

GRID = [
    (Fraction(epsilon), Fraction(delta))
    for epsilon in ("0.25", "1", "4", "10")
    for delta in ("1e-5", "1e-7", "1e-9")
]
CORNERS = [(Fraction(e), Fraction(d)) for e in ("0.05", "12") for d in ("1e-12", "0.1")]


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma", "tau"),
    [
        ("0.99", "1e-5", 5.8094, 29.1305),
        ("3.96", "1e-5", 1.6829, 8.5634),
        ("3.96", "1e-7", 2.0209, 11.9180),
    ],
)
def test_the_constants_by_a_search_elsewhere(
    epsilon: str, delta: str, sigma: float, tau: float
) -> None:
    """m = 32, η = 0.15, in users: no μ of a grid has a lower threshold, in floats by scipy."""
    plan = gaussian_plan(Fraction(epsilon), Fraction(delta))
    assert plan.discovery_sigma / UNIT == pytest.approx(sigma, abs=1e-4)
    assert plan.threshold / UNIT == pytest.approx(tau, abs=1e-4)
    mu = float(plan.mu)
    for other in (0.9 * mu, 0.97 * mu, 0.995 * mu, mu, 1.005 * mu, 1.05 * mu):
        lower = replace_widths(plan, mu / other)
        lower = replace(lower, threshold=int(plan.threshold * 0.9999))
        assert delta_by_scipy(lower) > float(plan.delta)


def replace_widths(plan: GaussianPlan, factor: float) -> GaussianPlan:
    """Return the plan with all noise wider by this factor."""
    first, second, third = (int(sigma * factor) for sigma in plan.sigmas)
    return replace(plan, discovery_sigma=first, estimation_sigma=second, scalar_sigma=third)


def delta_by_scipy(plan: GaussianPlan) -> float:
    """Compute the largest δ of all exchanges of k for k' records, j and j' held by others too."""
    k, j = np.array([(k, j) for k in range(1, plan.most + 1) for j in range(k + 1)]).T
    first, second, third = (sigma / UNIT for sigma in plan.sigmas)
    passes = norm.sf((plan.threshold / UNIT - 1 / np.sqrt(k)) / first)
    stays = (k - j) * np.log1p(-passes)
    squares = j / k / first**2
    mu = np.sqrt(squares[:, None] + squares + 2 / second**2 + 2 / third**2)
    left = float(plan.epsilon) + stays - stays[:, None]
    curve = norm.sf(left / mu - mu / 2) - np.exp(left + norm.logsf(left / mu + mu / 2))
    return float((-np.expm1(stays)[:, None] + np.exp(stays)[:, None] * curve).max())


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_all_exchanges_computed_elsewhere_need_the_same_delta(
    epsilon: Fraction, delta: Fraction
) -> None:
    """Every k, j, k', j' up to 32: 313,600 exchanges on scipy's normal law."""
    plan = gaussian_plan(epsilon, delta)
    assert delta_by_scipy(plan) == pytest.approx(float(total_delta(plan)), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_a_threshold_one_percent_lower_is_refused(epsilon: Fraction, delta: Fraction) -> None:
    plan = gaussian_plan(epsilon, delta)
    assert not is_private(replace(plan, threshold=plan.threshold * 99 // 100))


@pytest.mark.parametrize(("epsilon", "delta"), GRID + CORNERS)
def test_the_promise_is_kept_and_used_up(epsilon: Fraction, delta: Fraction) -> None:
    """Rounded against the plan, its δ is within the promise, and short of it by 1e-7 at most."""
    plan = gaussian_plan(epsilon, delta)
    assert delta * (1 - Fraction(1, 10**7)) <= total_delta(plan) <= delta
    assert plan.epsilon == epsilon
    assert plan.delta == delta


@settings(max_examples=25)
@given(
    epsilon=st.fractions(Fraction(1, 20), 12, max_denominator=1000),
    magnitude=st.integers(1, 12),
    most=st.integers(1, 40),
    estimation_share=st.fractions(Fraction(1, 20), Fraction(9, 10), max_denominator=100),
)
def test_every_plan_is_proved(
    epsilon: Fraction, magnitude: int, most: int, estimation_share: Fraction
) -> None:
    delta = Fraction(1, 10**magnitude)
    plan = gaussian_plan(epsilon, delta, most=most, estimation_share=estimation_share)
    assert plan.most == most
    assert is_private(plan)


@pytest.mark.parametrize(("epsilon", "delta"), GRID + CORNERS)
def test_the_shares_of_mu_add_up(epsilon: Fraction, delta: Fraction) -> None:
    """μ² = 2/σ₁² + 2/σ² + 2/σ², σ in users, divided 84 to 15 to 1."""
    plan = gaussian_plan(epsilon, delta)
    parts = [Fraction(2 * UNIT**2, sigma**2) for sigma in plan.sigmas]
    assert 0 <= 1 - sum(parts) / plan.mu**2 < Fraction(1, 10**20)
    assert [float(part / plan.mu**2) for part in parts] == pytest.approx([0.84, 0.15, 0.01])


def divergence_on_a_grid(plan: GaussianPlan, own: int, own_after: int) -> float:
    """Integrate max(0, p - e^ε·q) for a user of 32 records, so many of them that no other has.

    Before the exchange the first part of the records is the user's own, after it the second part.
    """
    none, none_after = (
        norm.cdf((plan.threshold / UNIT - 32**-0.5) / (plan.discovery_sigma / UNIT)) ** count
        for count in (own, own_after)
    )
    widths = [sigma / UNIT for sigma in plan.sigmas]
    shared = (64 - own - own_after) / 32
    mu = sqrt(shared / widths[0] ** 2 + 2 / widths[1] ** 2 + 2 / widths[2] ** 2)
    z = np.linspace(-12, 16 + mu, 200_001)
    p, q = (np.exp(-((z - at) ** 2) / 2) / sqrt(2 * pi) for at in (mu, 0.0))
    excess = np.maximum(none * p - exp(float(plan.epsilon)) * none_after * q, 0)
    return float(1 - none + excess.sum() * (z[1] - z[0]))


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_integration_finds_no_exchange_that_needs_more(epsilon: Fraction, delta: Fraction) -> None:
    """The worst exchanges: all records of one's own, or all of others too, use δ up."""
    plan = gaussian_plan(epsilon, delta)
    needed = {
        (own, after): divergence_on_a_grid(plan, own, after)
        for own in (0, 1, 16, 31, 32)
        for after in (0, 16, 32)
    }
    assert max(needed.values()) == pytest.approx(float(delta), rel=1e-4)
    assert max(needed, key=lambda pair: needed[pair]) in {(0, 0), (32, 0), (32, 32)}


def test_the_chance_of_a_record_of_ones_own_counts_every_unit() -> None:
    """With noise of 20 units the tail can be added up: one unit more or less is a tenth of it."""
    density = {x: exp(-(x**2) / 800) for x in range(-400, 401)}
    tail = sum(p for x, p in density.items() if UNIT + x > UNIT + 40) / sum(density.values())
    bound = float(1 - planning._own_record_stays(UNIT, 20, UNIT + 40))
    assert tail <= bound <= tail * 1.002


@settings(max_examples=50)
@given(st.integers(1, 32), st.integers(0, 32), st.integers(0, 31))
def test_no_holding_exceeds_the_front(kept: int, shared: int, place: int) -> None:
    """Every user's records are covered by a place of the front that is worse in both numbers."""
    plan = gaussian_plan(Fraction(4), Fraction(1, 10**5))
    front = planning._front(plan.most, plan.discovery_sigma, plan.threshold)
    assert len(front) > place
    weight = int(weights(32)[kept])
    shared = min(shared, kept)
    none = planning._own_record_stays(weight, plan.discovery_sigma, plan.threshold)
    stays = none ** (kept - shared)
    assert any(one.shared >= shared * weight**2 and one.stays <= stays for one in front)


@pytest.mark.parametrize(("epsilon", "delta"), [GRID[0], GRID[6], *CORNERS])
def test_a_plan_that_is_a_little_off_is_refused(epsilon: Fraction, delta: Fraction) -> None:
    """A threshold, a deviation or a promise wrong by one part in a million."""
    plan = gaussian_plan(epsilon, delta)
    less = Fraction(999_999, 1_000_000)
    assert is_private(plan)
    for off in (
        replace(plan, threshold=int(plan.threshold * less)),
        replace(plan, discovery_sigma=int(plan.discovery_sigma * less)),
        replace(plan, estimation_sigma=int(plan.estimation_sigma * less)),
        replace(plan, scalar_sigma=int(plan.scalar_sigma * less**10)),
        replace(plan, epsilon=plan.epsilon * less),
        replace(plan, delta=plan.delta * less),
    ):
        assert not is_private(off)


def test_noise_too_narrow_for_the_lattice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = gaussian_plan(Fraction(4), Fraction(1, 10**5))
    monkeypatch.setattr(planning, "LEAST_SIGMA", plan.discovery_sigma)
    assert is_private(plan)
    monkeypatch.setattr(planning, "LEAST_SIGMA", plan.discovery_sigma + 1)
    assert not is_private(plan)


def test_what_the_lattice_costs_is_as_small_as_stated() -> None:
    """ε: TOUCHED·(32²/8 + 1)/σ². δ: TOUCHED times both tails beyond 31 deviations, times e^ε."""
    _, tail = normal_tail(Fraction(FAR_OUT - 1), 64).ends()
    assert 2 * TOUCHED * tail * Fraction(272, 100) ** MOST_EPSILON < FAR_DELTA
    far, near = Fraction(FAR_OUT**2, 8), Fraction(1, 6)
    assert TOUCHED * (far + near) / LEAST_SIGMA**2 <= LATTICE_SLACK
    assert float(LATTICE_SLACK) < 3e-10


def test_what_the_lattice_costs_is_in_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make both costs large enough to be seen, and add up PRIVACY.md, step 4, in floats."""
    plan = gaussian_plan(Fraction(2), Fraction(1, 10**5))
    monkeypatch.setattr(planning, "LATTICE_SLACK", Fraction(1, 50))
    monkeypatch.setattr(planning, "FAR_DELTA", Fraction(1, 10**6))
    wide = replace(plan, threshold=plan.threshold * 4)  # records of one's own stay out
    mu, left = float(plan.mu), 2 - 0.02
    curve = norm.sf(left / mu - mu / 2) - exp(left) * norm.sf(left / mu + mu / 2)
    total = total_delta.__wrapped__
    assert float(total(wide)) == pytest.approx(1.02 * (curve + 1e-6), rel=1e-9)
    monkeypatch.setattr(planning, "MOST_EPSILON", Fraction(2))
    assert total(replace(plan, epsilon=Fraction(3))) == total(plan)


@pytest.mark.parametrize("epsilon", [100, 1_000, 10**30])
def test_an_epsilon_beyond_all_use_is_planned_as_a_hundred(epsilon: int) -> None:
    plan = gaussian_plan(Fraction(epsilon), Fraction(1, 10**5))
    assert plan.sigmas == gaussian_plan(Fraction(100), Fraction(1, 10**5)).sigmas
    assert min(plan.sigmas) >= LEAST_SIGMA


@pytest.mark.parametrize("delta", [Fraction(1, 10**100), Fraction(9, 10)])
def test_an_extreme_delta_has_a_plan(delta: Fraction) -> None:
    assert is_private(gaussian_plan(Fraction(2), delta))


@pytest.mark.parametrize(
    ("epsilon", "delta", "estimation_share"),
    [
        ("0.001", "0.01", "0.15"),
        ("0.5", "0.9", "0.15"),
        ("1", "0.99", "0.15"),
        ("100", "0.99", "0.9"),
    ],
)
def test_a_delta_larger_than_of_any_use_has_a_plan(
    epsilon: str, delta: str, estimation_share: str
) -> None:
    """Such as one above 1 - e^(-ε), with which a plan might release records of one's own."""
    plan = gaussian_plan(
        Fraction(epsilon), Fraction(delta), estimation_share=Fraction(estimation_share)
    )
    assert is_private(plan)
    assert plan.delta == Fraction(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "most", "message"),
    [
        ("0", "1e-5", 32, "epsilon must be above 0; got 0.0"),
        ("1", "1", 32, "delta must be at least 1e-100 and below 1; got 1.0"),
        ("1", "1e-101", 32, "delta must be at least 1e-100 and below 1; got 1e-101"),
        ("1", "1e-5", 0, "most must be from 1 to 100 records per user; got 0"),
        ("1", "1e-5", 101, "most must be from 1 to 100 records per user; got 101"),
        ("1e-9", "1e-12", 32, "epsilon must be so large that noise fits 64 bits .*; got 1e-09"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    epsilon: str, delta: str, most: int, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        gaussian_plan(Fraction(epsilon), Fraction(delta), most=most)


def test_every_release_needs_a_share() -> None:
    with pytest.raises(BrokenInvariantError, match="needs a share"):
        gaussian_plan(Fraction(1), Fraction(1, 10**5), estimation_share=Fraction(99, 100))
