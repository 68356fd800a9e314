"""Upper bound on the probability of a record that is not on a head list.

It is a function of public parameters. A comparison of two releases needs it for records that only
one of them lists.
"""

import numpy as np

from blender_dp.core.create_head_list.paper import least_passing_count
from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.plans import count_plan
from blender_dp.core.parameters import Parameters

MISSED = 1e-6
"""A record as probable as the bound is unlisted with at most this probability."""

_STEEPEST = 300.0


def unlisted_bound(parameters: Parameters, branch: Branch | None, users: int) -> float | None:
    """Return the bound for a list that was not trimmed, or None if users gave several records.

    A record of probability p has a binomial count among those who give one record each, to which
    noise is added; it is unlisted if the sum stays below the least that passes. Chernoff's
    inequality bounds that for every θ below the noise's left slope, and solves for p; the best θ
    of a grid is taken.

    Args:
        parameters: The promise and the tuning parameters.
        branch: The branch of discovery; None in ``paper``.
        users: Number of users who found the list.
    """
    rule = counting_rule(parameters, branch)
    if rule is None:
        return None
    # Steeper noise is narrower: the bound for slopes that doubles can hold holds for it too.
    right, left, least = min(rule[0], _STEEPEST), min(rule[1], _STEEPEST), rule[2]
    theta = left * np.arange(1, 1000) / 1000
    # E[e^(-θY)], for Y falling by e^-right a step upwards and by e^-left a step downwards.
    up, down = 1 / -np.expm1(-right - theta), 1 / np.expm1(left - theta)
    noise = (up + down) / (1 / -np.expm1(-right) + 1 / np.expm1(left))
    # ln Pr ≤ θ·(least - 1) + n·ln(1 - p(1 - e^-θ)) + ln E[e^-θY], set equal to ln MISSED.
    rest = np.log(MISSED) - theta * (least - 1) - np.log(noise)
    bounds = -np.expm1(rest / users) / -np.expm1(-theta)
    return min(float(bounds.min()), 1.0)


def counting_rule(parameters: Parameters, branch: Branch | None) -> tuple[float, float, int] | None:
    """Return the noise's slopes and the least listed noisy count; None if users gave several."""
    if branch is None:
        slope = float(1 / parameters.laplace_scale)
        is_single = parameters.records_per_optin_user == 1
        return (slope, slope, least_passing_count(parameters)) if is_single else None
    if branch == "gauss":
        return None
    budget = Budget.of(parameters)
    plan = count_plan(budget)
    return float(plan.noise.right), float(plan.noise.left), plan.threshold
