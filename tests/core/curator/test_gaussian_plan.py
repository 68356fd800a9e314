"""The plan for Gaussian noise: the constants, the promise in exact arithmetic, and its limits."""

from dataclasses import replace
from fractions import Fraction
from math import exp, log, pi, sqrt

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
    unique_release_probability,
)
from blender_dp.core.errors import BrokenInvariantError, ParameterError
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.normal_tail import normal_tail

GRID = [
    (Fraction(epsilon), Fraction(delta))
    for epsilon in ("0.25", "0.5", "1", "2", "4", "6", "10")
    for delta in ("1e-5", "1e-7", "1e-9")
]
CORNERS = [(Fraction(e), Fraction(d)) for e in ("0.05", "12") for d in ("1e-12", "0.1")]


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma", "tau", "estimation", "mu"),
    [
        ("1", "1e-5", 5.932, 30.771, 14.037, 0.2601),
        ("4", "1e-5", 1.722, 8.986, 4.075, 0.8961),
        ("4", "1e-7", 2.049, 12.317, 4.849, 0.7531),
    ],
)
def test_the_constants_by_a_search_elsewhere(
    epsilon: str, delta: str, sigma: float, tau: float, estimation: float, mu: float
) -> None:
    """m = 32, η = 0.15, in users: from a floating-point search that shares no code with this."""
    plan = gaussian_plan(Fraction(epsilon), Fraction(delta))
    in_users = [plan.discovery_sigma, plan.threshold, plan.estimation_sigma]
    assert [round(x / UNIT, 3) for x in in_users] == [sigma, tau, estimation]
    assert round(float(plan.mu), 4) == mu


@pytest.mark.parametrize(("epsilon", "delta"), GRID + CORNERS)
def test_the_promise_is_kept_and_used_up(epsilon: Fraction, delta: Fraction) -> None:
    """Rounded against the plan, its δ is within the promise, and short of it by 1e-9 at most."""
    plan = gaussian_plan(epsilon, delta)
    assert delta * (1 - Fraction(1, 10**9)) <= total_delta(plan) <= delta
    assert plan.epsilon == epsilon
    assert plan.delta == delta
    assert plan.mu > 0


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
    assert 0 <= 1 - sum(parts) / plan.mu**2 < Fraction(1, 10**7)
    assert [float(part / plan.mu**2) for part in parts] == pytest.approx([0.84, 0.15, 0.01])


def divergence_on_a_grid(plan: GaussianPlan) -> float:
    """Integrate max(0, p - e^ε·q) for the two normal laws, ε less ln 1/(1 - δ_t)."""
    mu = sqrt(sum(2 / (sigma / UNIT) ** 2 for sigma in plan.sigmas))
    allowed = float(plan.epsilon) + log(1 - plan.delta_unique)
    z = np.linspace(-4, 12 + mu, 1_000_001)
    p, q = (np.exp(-((z - at) ** 2) / 2) / sqrt(2 * pi) for at in (mu, 0.0))
    return float(np.maximum(p - exp(allowed) * q, 0).sum() * (z[1] - z[0]))


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_integration_gives_the_same_delta(epsilon: Fraction, delta: Fraction) -> None:
    plan = gaussian_plan(epsilon, delta)
    total = divergence_on_a_grid(plan) + float(plan.delta_unique)
    assert total == pytest.approx(float(delta), rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_no_other_division_of_delta_has_a_lower_threshold(
    epsilon: Fraction, delta: Fraction
) -> None:
    plan = gaussian_plan(epsilon, delta)
    thresholds = {tenths: threshold_by_scipy(epsilon, delta, tenths) for tenths in range(1, 9)}
    assert plan.threshold / UNIT == pytest.approx(min(thresholds.values()), rel=1e-7)
    chosen = int(plan.delta_unique / delta * 10)
    assert thresholds[chosen] == pytest.approx(min(thresholds.values()), rel=1e-9)


def threshold_by_scipy(epsilon: Fraction, delta: Fraction, tenths: int) -> float:
    """Find μ by halving and τ by its definition, on scipy's functions, in users."""
    unique = float(delta) * tenths / 10
    left, allowed = float(epsilon) + log(1 - unique), float(delta) - unique
    low, high = 1e-4, 20.0
    for _ in range(60):
        mu = (low + high) / 2
        first, second = -left / mu + mu / 2, -left / mu - mu / 2
        within = norm.cdf(first) - exp(left + norm.logcdf(second)) <= allowed
        low, high = (mu, high) if within else (low, mu)
    k = np.arange(1, 33)
    tails = -np.expm1(np.log1p(-unique) / k)
    return float((1 / np.sqrt(k) + sqrt(2 / 0.84) / low * norm.isf(tails)).max())


@pytest.mark.parametrize(("epsilon", "delta"), GRID + CORNERS)
def test_records_of_ones_own_stay_out(epsilon: Fraction, delta: Fraction) -> None:
    plan = gaussian_plan(epsilon, delta)
    bound = unique_release_probability(plan)
    assert bound <= plan.delta_unique
    k = np.arange(1, plan.most + 1)
    passes = norm.sf((plan.threshold / UNIT - 1 / np.sqrt(k)) / (plan.discovery_sigma / UNIT))
    each = -np.expm1(k * np.log1p(-passes))
    assert each.max() == pytest.approx(float(bound), rel=1e-6)
    assert each.max() == pytest.approx(float(plan.delta_unique), rel=1e-6)


@pytest.mark.parametrize("most", [1, 2])
def test_the_chance_of_a_record_of_ones_own_counts_every_unit(most: int) -> None:
    """With noise of 20 units the tail can be added up: one unit more or less is a tenth of it."""
    plan = gaussian_plan(Fraction(4), Fraction(1, 10**5), most=most)
    narrow = replace(plan, discovery_sigma=20, threshold=UNIT + 40)
    density = {x: exp(-(x**2) / 800) for x in range(-400, 401)}
    tail = sum(p for x, p in density.items() if UNIT + x > UNIT + 40) / sum(density.values())
    bound = float(unique_release_probability(narrow))
    assert tail <= bound <= tail * 1.002


@pytest.mark.parametrize(("epsilon", "delta"), [GRID[0], GRID[9], *CORNERS])
def test_a_plan_that_is_a_little_off_is_refused(epsilon: Fraction, delta: Fraction) -> None:
    """A threshold, a deviation or a μ wrong by one part in a million; a δ_t that is not paid."""
    plan = gaussian_plan(epsilon, delta)
    less = Fraction(999_999, 1_000_000)
    assert is_private(plan)
    for off in (
        replace(plan, threshold=int(plan.threshold * less)),
        replace(plan, discovery_sigma=int(plan.discovery_sigma * less)),
        replace(plan, estimation_sigma=int(plan.estimation_sigma * less)),
        replace(plan, scalar_sigma=int(plan.scalar_sigma * less**10)),
        replace(plan, mu=plan.mu / less),
        replace(plan, mu=plan.mu * less),
        replace(plan, delta_unique=plan.delta_unique * less),
        replace(plan, delta_unique=plan.delta_unique / less),
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
    mu, unique = float(plan.mu), float(plan.delta_unique)
    left = 2 + log(1 - unique) - 0.02
    curve = norm.sf(left / mu - mu / 2) - exp(left) * norm.sf(left / mu + mu / 2)
    assert float(total_delta(plan)) == pytest.approx(unique + 1.02 * (curve + 1e-6), rel=1e-9)
    monkeypatch.setattr(planning, "MOST_EPSILON", Fraction(2))
    assert total_delta(replace(plan, epsilon=Fraction(3))) == total_delta(plan)


@pytest.mark.parametrize("epsilon", [100, 1_000, 10**30])
def test_an_epsilon_beyond_all_use_is_planned_as_a_hundred(epsilon: int) -> None:
    plan = gaussian_plan(Fraction(epsilon), Fraction(1, 10**5))
    assert plan.sigmas == gaussian_plan(Fraction(100), Fraction(1, 10**5)).sigmas
    assert min(plan.sigmas) >= LEAST_SIGMA


@pytest.mark.parametrize("delta", [Fraction(1, 10**100), Fraction(9, 10)])
def test_an_extreme_delta_has_a_plan(delta: Fraction) -> None:
    assert is_private(gaussian_plan(Fraction(2), delta))


@pytest.mark.parametrize(
    ("epsilon", "delta", "most", "message"),
    [
        ("0", "1e-5", 32, "epsilon must be above 0; got 0.0"),
        ("1", "1", 32, "delta must be at least 1e-100 and below 1; got 1.0"),
        ("1", "1e-101", 32, "delta must be at least 1e-100 and below 1; got 1e-101"),
        ("1", "1e-5", 0, "most must be from 1 to 1250 records per user; got 0"),
        ("1", "1e-5", 1251, "most must be from 1 to 1250 records per user; got 1251"),
        ("0.009", "0.1", 32, r"epsilon must be above δ/10, .* \(δ is 0.1\); got 0.009"),
        ("1e-9", "1e-12", 32, "epsilon must be .* so large that noise fits 64 bits .*; got 1e-09"),
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
