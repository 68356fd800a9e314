"""What absence from a list says, against the exact law of the count and its noise."""

from dataclasses import replace
from math import exp

import numpy as np
import pytest
from core.small_result import small_result
from scipy.stats import binom, dlaplace

from blender_dp.core.blender import BlenderResult
from blender_dp.core.create_head_list.paper import least_passing_count
from blender_dp.core.parameters import Parameters
from blender_dp.core.unlisted_bound import MISSED, unlisted_bound


def result_of(parameters: Parameters, users: int) -> BlenderResult:
    """Return a result in which no query was trimmed."""
    result = small_result()
    curated = replace(
        result.curated, candidate_queries=len(result.head_list.queries), discovery_users=users
    )
    return replace(result, parameters=parameters, curated=curated)


def probability_unlisted(p: float, users: int, parameters: Parameters) -> float:
    """Return Pr[c + Y < least] by adding up over the noise."""
    noise = np.arange(-400, 401)
    needed = least_passing_count(parameters) - 1 - noise
    weights = dlaplace.pmf(noise, float(1 / parameters.laplace_scale))
    return float(np.sum(weights * binom.cdf(needed, users, p)))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("users", [5_000, 24_671, 1_000_000])
def test_a_record_at_the_bound_is_hardly_ever_unlisted(epsilon: float, users: int) -> None:
    parameters = Parameters(epsilon=epsilon, delta=1e-5)
    bound = unlisted_bound(result_of(parameters, users))
    assert bound is not None
    assert probability_unlisted(bound, users, parameters) <= MISSED
    # Nor is it much too large: at half of it, records do go unlisted.
    assert probability_unlisted(bound / 2, users, parameters) > MISSED


def test_too_few_users_say_nothing() -> None:
    assert unlisted_bound(result_of(Parameters(epsilon=0.1, delta=1e-9), 10)) == 1


def test_where_queries_were_trimmed_absence_says_nothing() -> None:
    assert unlisted_bound(small_result()) is None


def test_with_several_records_a_user_there_is_no_bound() -> None:
    parameters = Parameters(epsilon=4, delta=1e-5, records_per_optin_user=2, preset="paper")
    assert unlisted_bound(result_of(parameters, 24_671)) is None


def test_the_noise_is_that_of_the_head_list() -> None:
    """scipy's law and ours agree: Pr[Y = 0] = (1 - a)/(1 + a)."""
    scale = Parameters(epsilon=4, delta=1e-5).laplace_scale
    a = exp(-1 / scale)
    assert dlaplace.pmf(0, float(1 / scale)) == pytest.approx((1 - a) / (1 + a))
