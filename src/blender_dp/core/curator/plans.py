"""Plans of discovery for a budget: the ones that steps draw with and certificates recompute."""

from blender_dp.core.curator.budget import Budget
from blender_dp.core.curator.gaussian_plan import GaussianPlan, gaussian_plan
from blender_dp.core.curator.laplace_plan import LaplacePlan, laplace_plan


def count_plan(budget: Budget) -> LaplacePlan:
    """Return noise and threshold of released counts."""
    return laplace_plan(budget.discovery_epsilon, budget.delta)


def weight_plan(budget: Budget) -> GaussianPlan:
    """Return noise and threshold of released weights, with the noise of sums and scalars."""
    return gaussian_plan(budget.rest, budget.delta, estimation_share=budget.estimation_share)
