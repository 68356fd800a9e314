"""Discovery keeps its promise: every swap of a user is enumerated, nothing is sampled.

``enumerated_delta`` is held against a plain enumeration that shares no idea with it: all pairs of
counts, every released value, an outer product, in floats.
"""

import dataclasses
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from blender_dp.core.curator.laplace_plan import LaplacePlan, enumerated_delta, laplace_plan
from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace
from blender_dp.core.head_list.cells import FloatArray

EPSILONS = ["0.25", "0.5", "1", "2", "3.4", "4", "6", "8", "10"]
DELTAS = ["1e-5", "1e-7", "1e-9"]


def plan_for(epsilon: str, delta: str = "1e-5") -> LaplacePlan:
    return laplace_plan(Fraction(epsilon), Fraction(delta))


def outputs(plan: LaplacePlan, count: int) -> FloatArray:
    """The law of what is seen of a record: not released, T, T+1, … as far as it matters."""
    right, left = float(plan.noise.right), float(plan.noise.left)
    above = plan.threshold + 8 + round(45 / right)
    if count == 0:
        return np.append(1.0, np.zeros(above - plan.threshold))
    y = np.arange(-round(45 / left) - above, above + round(45 / right)) * 1.0
    weights = np.exp(np.where(y >= 0, -right * y, left * y))
    weights /= weights.sum()
    unseen = weights[count + y < plan.threshold].sum()
    seen = weights[(count + y >= plan.threshold) & (count + y < above)]
    return np.append(unseen, seen)


def plainly_enumerated(plan: LaplacePlan, epsilon: float, beyond: int = 3) -> float:
    """Return the largest divergence over all n from 1, and m from 0, to T and a little beyond."""
    law = cache(lambda count: outputs(plan, count))
    counts = range(plan.threshold + beyond)
    worst = 0.0
    for n in counts[1:]:
        for m in counts:
            before = np.outer(law(n), law(m))
            after = np.outer(law(n - 1), law(m + 1))
            worst = max(worst, np.maximum(before - np.exp(epsilon) * after, 0).sum())
    return worst


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_every_swap_stays_within_delta_and_uses_it_up(epsilon: str, delta: str) -> None:
    """A certified upper bound, and 1.000000 of δ."""
    found = enumerated_delta(plan_for(epsilon, delta), Fraction(epsilon))
    assert isinstance(found, Fraction)
    assert found <= Fraction(delta)
    assert f"{float(found / Fraction(delta)):.6f}" == "1.000000"


@pytest.mark.parametrize("epsilon", ["0.02", "0.1", "1", "4", "12"])
@pytest.mark.parametrize("delta", ["0.5", "0.01", "1e-20", "1e-300"])
def test_an_unusual_delta_is_kept_too(epsilon: str, delta: str) -> None:
    assert enumerated_delta(plan_for(epsilon, delta), Fraction(epsilon)) <= Fraction(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1", "1e-5"), ("2", "1e-7"), ("3.4", "1e-5"), ("6", "1e-9"), ("1", "0.2")],
)
def test_a_plain_enumeration_agrees(epsilon: str, delta: str) -> None:
    plan = plan_for(epsilon, delta)
    # A rounded float above e^ε·Q would count where both sides are equal: a little more ε.
    plain = plainly_enumerated(plan, float(epsilon) + 1e-9)
    assert plain == pytest.approx(float(enumerated_delta(plan, Fraction(epsilon))), rel=1e-6)


NOT_PRIVATE = [
    LaplacePlan(threshold=t, noise=AsymmetricLaplace(right=Fraction(r), left=Fraction(s)))
    for t, r, s in [(2, "1.2", "0.3"), (3, "0.3", "1.2"), (5, "0.4", "0.4"), (4, "3", "0.1")]
]


@pytest.mark.parametrize("plan", NOT_PRIVATE, ids=str)
@pytest.mark.parametrize("share", ["0.2", "0.7", "0.95", "1.1"])
def test_a_plain_enumeration_agrees_where_every_swap_may_be_the_worst(
    plan: LaplacePlan, share: str
) -> None:
    """Below the plan's own ε the four swaps all have a divergence, and the largest varies."""
    epsilon = plan.epsilon * Fraction(share)
    plain = plainly_enumerated(plan, float(epsilon))
    assert float(enumerated_delta(plan, epsilon)) == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_a_threshold_lower_by_one_is_caught(epsilon: str, delta: str) -> None:
    """The twin; but at T = 2, where nothing lower can be made."""
    plan = plan_for(epsilon, delta)
    if plan.threshold > 2:
        lower = dataclasses.replace(plan, threshold=plan.threshold - 1)
        assert enumerated_delta(lower, Fraction(epsilon)) > Fraction(delta) * Fraction(11, 10)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_an_epsilon_a_hundredth_less_is_not_kept(epsilon: str) -> None:
    """The slopes add up to ε and to nothing less."""
    less = Fraction(epsilon) * Fraction(99, 100)
    assert enumerated_delta(plan_for(epsilon), less) > Fraction(11, 10**6)


def test_a_left_slope_too_steep_is_caught() -> None:
    """π is smaller than with the plan's slopes; what gives a user away is the other record."""
    plan = plan_for("1")
    noise = AsymmetricLaplace(right=plan.noise.right, left=2 * plan.noise.left)
    steep = dataclasses.replace(plan, noise=noise)
    assert enumerated_delta(steep, Fraction(1)) > Fraction(1, 100)


@pytest.mark.parametrize("threshold", [2, 3, 6])
def test_a_new_record_that_shows_by_its_absence_costs_no_more(threshold: int) -> None:
    """1/(1-π) > e^sL: the swap n → n-1, 0 → 1 has a divergence, but never more than π."""
    noise = AsymmetricLaplace(right=Fraction(1, 5), left=Fraction(1, 5))
    plan = LaplacePlan(threshold=threshold, noise=noise)
    pi = outputs(plan, 1)[1:].sum()
    assert 1 / (1 - pi) > np.exp(0.2)
    assert plainly_enumerated(plan, 0.4 + 1e-9) == pytest.approx(pi)
    assert float(enumerated_delta(plan, Fraction("0.4"))) == pytest.approx(pi)


def test_the_bound_is_from_above_and_narrow() -> None:
    """Of one plan, to 57 digits: π of T = 2 and slopes 1 and 2 is e^-1·(1-e^-2)/(1-e^-3)."""
    plan = LaplacePlan(threshold=2, noise=AsymmetricLaplace(right=Fraction(1), left=Fraction(2)))
    digits = Fraction("0.33475904422517811047098171982525459506723093974943931609429")
    found = enumerated_delta(plan, Fraction(3))
    assert abs(found - digits) < Fraction(1, 10**57)


def test_what_takes_too_many_digits_is_bounded_by_the_proof() -> None:
    """At an ε of a hundred thousand π, which the plan keeps below δ, stands for the exact δ."""
    plan = plan_for("100000")
    assert enumerated_delta(plan, Fraction(100_000)) <= Fraction("1e-5")
    assert enumerated_delta(plan, Fraction(99_999)) == 1  # below its own ε nothing is proved
