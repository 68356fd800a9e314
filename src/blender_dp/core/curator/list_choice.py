"""Choice between a list of records and a list of queries, by one noisy number.

Every opt-in user gives one record. A query is on a list of records if one of its records passes the
threshold T, so its largest record decides; on a list of queries, all its users together decide.
With n users, a query counts as clip(2n - T, 0, 7T): nothing up to T/2 users, and no more than with
4T users, so that a few famous queries do not outweigh all others. The number is

    N = 2·Σ clip(2·largest - T, 0, 7T) - Σ clip(2·all - T, 0, 7T)      over queries.

If it is clearly below zero, a list of records would have less than half as many queries: then
queries are listed. One user moves N by at most 4, a swap by at most 6 (the proof is in
``create_head_list/PRIVACY.md``, "A list of queries").
"""

from math import sqrt

from blender_dp.core.curator.budget import Budget
from blender_dp.core.curator.plans import count_plan
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace, variance
from blender_dp.core.head_list.cells import IntArray

ONE_USER = 4
"""The most that adding or removing one user moves the number."""
SENSITIVITY = 6
"""The most that a swap of one user moves it."""
_MARGIN = 2
"""Queries are listed only if the number is below zero by this many deviations of its noise."""


def coverage_gap(
    largest: tuple[IntArray, IntArray], together: tuple[IntArray, IntArray], budget: Budget
) -> int:
    """Return N, exactly.

    Args:
        largest: Numbers of users of the queries' largest records, and how many queries have each.
        together: Numbers of users of whole queries, likewise.
        budget: The budget; it decides T.
    """
    threshold = count_plan(budget).threshold
    return 2 * _covered(largest, threshold) - _covered(together, threshold)


def _covered(classes: tuple[IntArray, IntArray], threshold: int) -> int:
    numbers, queries = (column.tolist() for column in classes)
    return sum(
        how_many * min(max(2 * users - threshold, 0), 7 * threshold)
        for users, how_many in zip(numbers, queries, strict=True)
    )


def list_noise(budget: Budget) -> DiscreteLaplace:
    """Return the noise of the number."""
    return DiscreteLaplace(SENSITIVITY / budget.list_epsilon)


def lists_queries(noisy_gap: int, budget: Budget) -> bool:
    """Tell whether queries are listed: a public rule about the released number."""
    return noisy_gap < -_MARGIN * sqrt(variance(list_noise(budget).scale))
