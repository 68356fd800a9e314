"""The number that chooses between records and queries: what one user moves, and the rule."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from core.create_head_list.opt_in_users import CountedUsers
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.curator.budget import Budget
from blender_dp.core.curator.laplace_plan import laplace_plan
from blender_dp.core.curator.list_choice import (
    ONE_USER,
    SENSITIVITY,
    coverage_gap,
    list_noise,
    lists_queries,
)
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.parameters import Parameters

BUDGET = Budget.of(Parameters(epsilon=4.0, delta=1e-5, list_of="auto"))
T = laplace_plan(BUDGET.discovery_epsilon, BUDGET.delta).threshold
records = st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"))


def gap(counts: Counter[tuple[str, str]]) -> int:
    """Return the number for users who gave these records."""
    users = CountedUsers({Record(*record): n for record, n in counts.items() if n})
    by_query: Counter[str] = Counter()
    for (query, _), n in counts.items():
        by_query[query] += n
    together = np.unique([n for n in by_query.values() if n], return_counts=True)
    return coverage_gap(users.largest_by_query(), together, BUDGET)


@given(
    others=st.dictionaries(records, st.integers(0, 5 * T), max_size=6), one=records, other=records
)
def test_one_user_moves_the_number_by_no_more_than_the_noise_hides(
    others: dict[tuple[str, str], int], one: tuple[str, str], other: tuple[str, str]
) -> None:
    without = gap(Counter(others))
    before, after = (gap(Counter(others) + Counter([record])) for record in (one, other))
    assert -2 <= before - without <= ONE_USER
    assert abs(after - before) <= SENSITIVITY


def test_the_bounds_are_reached() -> None:
    """The twin: with a sensitivity of 5 the test above would fail on this pair."""
    others = Counter({("a", "x"): T, ("b", "x"): T, ("b", "y"): T})
    assert gap(others + Counter([("a", "x")])) - gap(others) == 2
    tied = Counter({("a", "x"): T, ("a", "y"): 4 * T, ("b", "x"): T - 1, ("b", "y"): T - 2})
    joined = gap(tied + Counter([("b", "x")])) - gap(tied)
    flat = gap(tied + Counter([("b", "y")])) - gap(tied)
    assert (joined, flat) == (2, -2)
    alone = Counter({("a", "x"): 4 * T, ("a", "y"): T})
    assert gap(alone) - gap(alone - Counter([("a", "x")])) == ONE_USER


def test_the_number_by_hand() -> None:
    """Largest records 2T and T/2 and less, queries 3T and far above 4T."""
    counts = Counter({("a", "x"): 2 * T, ("a", "y"): T})
    counts.update({("b", f"{url}"): T // 2 for url in range(50)})
    assert gap(counts) == 2 * 3 * T - 5 * T - 7 * T


def test_the_noise_covers_a_swap_and_the_rule_has_a_margin() -> None:
    noise = list_noise(BUDGET)
    assert SENSITIVITY / noise.scale == BUDGET.list_epsilon == Fraction(4, 200)
    two_deviations = 2 * np.sqrt(2) * float(noise.scale)
    assert not lists_queries(-int(0.99 * two_deviations), BUDGET)
    assert lists_queries(-int(1.01 * two_deviations), BUDGET)


@pytest.mark.parametrize("users", [10, 400])
def test_flat_queries_are_listed_alone_only_if_that_is_sure(users: int) -> None:
    flat = Counter({(f"{q}", f"{url}"): 1 for q in range(users) for url in range(50)})
    assert lists_queries(gap(flat), BUDGET) == (users == 400)
