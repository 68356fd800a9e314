"""The search for the worst exchange: it looks at few, and finds what looking at all finds."""

from fractions import Fraction
from itertools import product
from math import erfc, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.certificate.added_user import weight_delta
from blender_dp.core.curator.gaussian_plan import gaussian_plan
from blender_dp.core.curator.gaussian_search import presence_epsilon
from blender_dp.core.curator.worst_exchange import worst_exchange

FRONT = st.lists(st.integers(0, 50), min_size=1, max_size=12, unique=True)


@given(shared=FRONT, risks=FRONT)
def test_no_exchange_is_worse_than_the_one_that_is_found(
    shared: list[int], risks: list[int]
) -> None:
    front = list(zip(sorted(shared, reverse=True), sorted(risks), strict=False))

    def needed(before: int, after: int, risk: int, risk_after: int) -> Fraction:
        return Fraction(before * after + 7 * risk + risk * risk_after, 3)

    def bound(before: range, after: range) -> Fraction:
        return needed(
            front[before[0]][0], front[after[0]][0], front[before[-1]][1], front[after[-1]][1]
        )

    worst, before, after = worst_exchange(bound, len(front))
    every = range(len(front))
    all_of_them = {
        (one, other): bound(range(one, one + 1), range(other, other + 1))
        for one, other in product(every, every)
    }
    assert worst == max(all_of_them.values()) == all_of_them[before, after]


def test_few_exchanges_of_a_long_front_are_looked_at() -> None:
    looked = []

    def bound(before: range, after: range) -> float:
        looked.append((before, after))
        return erfc(sqrt(before[0] + 1)) + 2e-4 * before[-1] + 1e-4 * after[-1]

    worst, before, after = worst_exchange(bound, 200)
    assert len(looked) < 200
    assert (before, after) == (0, 199)
    assert worst == bound(range(1), range(199, 200))


@pytest.mark.parametrize(("epsilon", "delta"), [("0.25", "1e-5"), ("4", "1e-9"), ("12", "1e-12")])
def test_the_suggested_epsilon_of_an_added_user_is_the_proved_one(epsilon: str, delta: str) -> None:
    plan = gaussian_plan(Fraction(epsilon), Fraction(delta))
    near = presence_epsilon(
        plan.delta, most=plan.most, sigmas=plan.sigmas, threshold=plan.threshold
    )
    assert weight_delta(plan, Fraction(near * (1 + 1e-6))) <= plan.delta
    assert weight_delta(plan, Fraction(near * (1 - 1e-6))) > plan.delta
