"""What absence from a list says, against the exact law of the count and its noise."""

from dataclasses import replace
from math import exp, expm1, log

import numpy as np
import pytest
from core.sharp_cases import TwoSlopes
from core.small_result import small_result
from scipy.optimize import minimize_scalar
from scipy.stats import binom, dlaplace

from blender_dp.core.blender import Curated
from blender_dp.core.create_head_list.paper import least_passing_count
from blender_dp.core.curator.budget import Budget
from blender_dp.core.curator.discovery import branch_of
from blender_dp.core.curator.plans import count_plan
from blender_dp.core.estimation.unlisted_bound import MISSED
from blender_dp.core.head_list.cells import FloatArray
from blender_dp.core.parameters import Parameters, Preset

Rule = tuple[FloatArray, FloatArray, int]
"""The values of the noise, their probabilities, and the least noisy count that is listed."""


def curated_of(parameters: Parameters, users: int) -> Curated:
    """Return a curator's side in which no query was trimmed."""
    result = small_result()
    curated = replace(
        result.curated,
        parameters=parameters,
        candidate_queries=len(result.head_list.queries),
        discovery_users=users,
    )
    if parameters.preset == "sharp":
        budget = Budget.of(parameters)
        curated = replace(curated, choice=replace(branch_of(1, users, budget), branch="laplace"))
    return curated


def rule_of(parameters: Parameters) -> Rule:
    """Return the law by which a record is listed, from the noise alone."""
    if parameters.preset == "paper":
        slope = float(1 / parameters.laplace_scale)
        values, law = TwoSlopes(right=slope, left=slope).law
        return values, law, least_passing_count(parameters)
    plan = count_plan(Budget.of(parameters))
    noise = TwoSlopes(right=float(plan.noise.right), left=float(plan.noise.left))
    return (*noise.law, plan.threshold)


def probability_unlisted(p: float, users: int, rule: Rule) -> float:
    """Return Pr[c + Y < least] by adding up over the noise."""
    noise, weights, least = rule
    return float(np.sum(weights * binom.cdf(least - 1 - noise, users, p)))


def best_of_chernoff(users: int, rule: Rule) -> float:
    """Return the least p that Chernoff's inequality allows for any θ, found by a search."""
    values, law, least = rule
    left, right = (float(np.log(law[at] / law[at - 1])) for at in (1, -1))
    far = np.arange(0, 3_000 / left)

    def bound(theta: float) -> float:
        up, down = np.exp((right - theta) * far), np.exp((theta - left) * far)
        moment = law[values == 0].item() * (up.sum() + down[1:].sum())
        return expm1((log(MISSED) - theta * (least - 1) - log(moment)) / users) / expm1(-theta)

    return float(minimize_scalar(bound, bounds=(left / 1000, left * 0.999), method="bounded").fun)


@pytest.mark.parametrize("preset", ["paper", "sharp"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("users", [5_000, 24_671, 1_000_000])
def test_a_record_at_the_bound_is_hardly_ever_unlisted(
    epsilon: float, users: int, preset: Preset
) -> None:
    parameters = Parameters(epsilon=epsilon, delta=1e-5, preset=preset)
    bound, rule = curated_of(parameters, users).unlisted_bound, rule_of(parameters)
    assert bound is not None
    assert probability_unlisted(bound, users, rule) <= MISSED
    # Nor is it much too large: at four fifths of it, records do go unlisted.
    assert probability_unlisted(bound * 0.8, users, rule) > MISSED


@pytest.mark.parametrize("preset", ["paper", "sharp"])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_no_smaller_bound_follows_from_the_same_inequality(epsilon: float, preset: Preset) -> None:
    """Within a part in ten thousand: a grid of θ is as good as a search for it."""
    parameters, users = Parameters(epsilon=epsilon, delta=1e-5, preset=preset), 24_671
    bound = curated_of(parameters, users).unlisted_bound
    best = best_of_chernoff(users, rule_of(parameters))
    assert best * (1 - 1e-9) <= (bound or 0) <= best * (1 + 1e-4)


def test_too_few_users_say_nothing() -> None:
    assert curated_of(Parameters(epsilon=0.1, delta=1e-9), 10).unlisted_bound == 1


def test_where_queries_were_trimmed_absence_says_nothing() -> None:
    assert small_result().curated.unlisted_bound is None


def test_with_several_records_a_user_there_is_no_bound() -> None:
    parameters = Parameters(epsilon=4, delta=1e-5, records_per_optin_user=2, preset="paper")
    assert curated_of(parameters, 24_671).unlisted_bound is None


def test_the_noise_is_that_of_the_head_list() -> None:
    """scipy's law and ours agree: Pr[Y = 0] = (1 - a)/(1 + a)."""
    scale = Parameters(epsilon=4, delta=1e-5).laplace_scale
    a = exp(-1 / scale)
    assert dlaplace.pmf(0, float(1 / scale)) == pytest.approx((1 - a) / (1 + a))
