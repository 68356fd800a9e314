"""The plan of discovery: the published constants, what it must satisfy, and where it ends."""

import dataclasses
import math
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.core.curator.laplace_plan import LaplacePlan, is_private, laplace_plan
from blender_dp.core.errors import BrokenInvariantError, ParameterError
from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace

epsilons = st.fractions(Fraction(1, 50), 12, max_denominator=10**4)
deltas = st.builds(
    lambda digits, power: Fraction(digits, 10**power), st.integers(1, 5), st.integers(1, 60)
)


class Constants(NamedTuple):
    """A row of the table of constants that ``sharp`` is cross-checked with."""

    epsilon: str
    delta: str
    threshold: int
    right: float
    left: float
    mean: float
    variance: float
    half: float


TABLE = [
    Constants("0.8", "1e-5", 16, 0.668, 0.132, -6.03, 59.4, 19.3),
    Constants("1", "1e-5", 13, 0.839, 0.161, -4.96, 39.8, 15.7),
    Constants("2", "1e-5", 7, 1.712, 0.288, -2.78, 12.3, 8.2),
    Constants("3.6", "1e-5", 5, 2.746, 0.854, -0.67, 1.37, 4.8),
    Constants("4", "1e-5", 4, 3.522, 0.478, -1.60, 4.32, 4.5),
    Constants("4", "1e-7", 6, 3.120, 0.880, -0.66, 1.26, 5.8),
    Constants("6", "1e-5", 3, 5.375, 0.625, -1.15, 2.48, 3.1),
]


def plan_for(epsilon: str, delta: str) -> LaplacePlan:
    return laplace_plan(Fraction(epsilon), Fraction(delta))


def alone(plan: LaplacePlan) -> float:
    """π = Pr[1 + Y ≥ T], summed term by term in floats."""
    right, left = float(plan.noise.right), float(plan.noise.left)
    weights = [math.exp(-right * y) for y in range(round(60 / right))]
    below = [math.exp(-left * y) for y in range(1, round(60 / left))]
    return math.fsum(weights[plan.threshold - 1 :]) / math.fsum(weights + below)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.epsilon}, {row.delta}")
def test_the_published_constants_come_out(row: Constants) -> None:
    plan = plan_for(row.epsilon, row.delta)
    assert plan.threshold == row.threshold
    assert float(plan.noise.right) == pytest.approx(row.right, abs=0.0005)
    assert float(plan.noise.left) == pytest.approx(row.left, abs=0.0005)
    assert plan.noise.mean == pytest.approx(row.mean, abs=0.005)
    assert plan.noise.variance == pytest.approx(row.variance, rel=0.005)
    assert plan.half == pytest.approx(row.half, abs=0.05)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.epsilon}, {row.delta}")
def test_no_other_threshold_is_expected_to_find_more(row: Constants) -> None:
    """Σ c^-2.1·Pr[c + Y ≥ T] for thresholds around, each with its own least slope, by hand."""
    epsilon, delta = float(row.epsilon), float(row.delta)

    def found(threshold: int) -> float:
        def pi(right: float) -> float:
            a, b = math.exp(-right), math.exp(right - epsilon)
            return a ** (threshold - 1) * (1 - b) / (1 - a * b)

        low, high = 0.3 * epsilon, 0.99 * epsilon
        if pi(high) > delta:
            return 0.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if pi(middle) > delta else (low, middle)
        a, b = math.exp(-high), math.exp(high - epsilon)
        return math.fsum(
            c**-2.1
            * (
                a ** (threshold - c) * (1 - b) / (1 - a * b)
                if c <= threshold
                else 1 - b ** (c - threshold + 1) * (1 - a) / (1 - a * b)
            )
            for c in range(1, 4000)
        )

    assert max(range(2, 2 * row.threshold + 5), key=found) == row.threshold


@settings(max_examples=25)
@given(epsilon=epsilons, delta=deltas)
def test_a_plan_keeps_its_promise(epsilon: Fraction, delta: Fraction) -> None:
    """Exact sum of the slopes; the condition of the proof; short fractions for the coins."""
    plan = laplace_plan.__wrapped__(epsilon, delta)
    assert plan.noise.right + plan.noise.left == plan.epsilon == epsilon
    assert is_private(plan, delta)
    assert plan.threshold >= 2
    assert Fraction(3, 10) * epsilon <= plan.noise.right < Fraction(991, 1000) * epsilon
    assert (plan.noise.right / epsilon).denominator <= 1 << 40
    pi = plan.passing(1, 400)
    assert Fraction(pi.high, 1 << pi.bits) <= delta


@pytest.mark.parametrize("epsilon", ["0.02", "0.25", "1", "3.4", "12"])
@pytest.mark.parametrize("delta", ["1e-5", "1e-9"])
def test_delta_is_used_up_to_six_digits(epsilon: str, delta: str) -> None:
    plan = plan_for(epsilon, delta)
    assert alone(plan) == pytest.approx(float(delta), rel=5e-7)
    assert alone(plan) <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.epsilon}, {row.delta}")
def test_a_threshold_lower_by_one_is_not_private(row: Constants) -> None:
    plan = plan_for(row.epsilon, row.delta)
    lower = dataclasses.replace(plan, threshold=plan.threshold - 1)
    assert is_private(plan, Fraction(row.delta))
    assert not is_private(lower, Fraction(row.delta))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.epsilon}, {row.delta}")
def test_a_slope_a_millionth_less_steep_is_not_private(row: Constants) -> None:
    plan = plan_for(row.epsilon, row.delta)
    right = plan.noise.right * Fraction(10**6 - 1, 10**6)
    noise = AsymmetricLaplace(right=right, left=plan.epsilon - right)
    assert not is_private(dataclasses.replace(plan, noise=noise), Fraction(row.delta))


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1e-6", "1e-9"), ("0.02", "1e-300"), ("12", "1e-300"), ("100", "1e-5"), ("1e300", "1e-5")],
)
def test_an_extreme_promise_has_a_plan(epsilon: str, delta: str) -> None:
    plan = plan_for(epsilon, delta)
    assert plan.epsilon == Fraction(epsilon)
    assert is_private(plan, Fraction(delta))
    assert math.isfinite(plan.half)
    assert plan.half >= 1


@settings(max_examples=25)
@given(epsilon=epsilons, delta=deltas)
def test_half_of_the_records_with_that_count_pass(epsilon: Fraction, delta: Fraction) -> None:
    """One half lies between the two whole counts around it, in the exact law."""
    plan = laplace_plan.__wrapped__(epsilon, delta)
    below, above = (plan.passing(c, 64) for c in (math.floor(plan.half), math.ceil(plan.half)))
    slack = 1 << (below.bits - 30)
    assert below.low <= (1 << below.bits - 1) + slack
    assert above.high >= (1 << above.bits - 1) - slack


def test_a_rare_record_that_always_passes_is_at_one() -> None:
    noise = AsymmetricLaplace(right=Fraction(1, 10**3), left=Fraction(5))
    assert LaplacePlan(threshold=2, noise=noise).half == 1


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), Fraction(1, 10**7)])
def test_an_epsilon_too_small_to_find_anything_is_refused(epsilon: Fraction) -> None:
    with pytest.raises(ParameterError, match="epsilon must be at least 1e-6"):
        laplace_plan(epsilon, Fraction(1, 10**5))


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1), Fraction(2)])
def test_a_delta_outside_its_range_is_refused(delta: Fraction) -> None:
    with pytest.raises(ParameterError, match="delta must be strictly between 0 and 1"):
        laplace_plan(Fraction(1), delta)


@pytest.mark.parametrize("threshold", [1, 0, -3])
def test_a_threshold_that_one_user_meets_cannot_be_made(threshold: int) -> None:
    with pytest.raises(BrokenInvariantError, match="below 2"):
        LaplacePlan(threshold=threshold, noise=plan_for("1", "1e-5").noise)


def test_the_same_promise_gives_the_same_plan() -> None:
    assert plan_for("1", "1e-5") is plan_for("1.0", "0.00001")
