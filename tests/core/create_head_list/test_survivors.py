"""Which records pass: one draw for a class of equal counts has the law of a draw for each record.

All 32 sets of survivors of five records are counted, so that inclusion, pairs and independence
are in it. Each assertion raises a false alarm with probability at most 1e-9.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
import pytest
from core.create_head_list.opt_in_users import CountedUsers

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.create_head_list.paper import create_head_list, least_passing_count
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches

N = 2_500
PARAMETERS = Parameters(preset="paper", epsilon=2.0, delta=1e-2)
"""τ = 1 + ln 100 = 5.6: a noisy count of 6 passes."""
COUNTS = {
    Record("a", "1"): 5,
    Record("a", "2"): 6,
    Record("b", "1"): 5,
    Record("c", "1"): 7,
    Record("c", "2"): 5,
}

Survivors = frozenset[Record]


def survivors(randomness: Randomness, parameters: Parameters = PARAMETERS) -> Survivors:
    found = create_head_list(CountedUsers(COUNTS), parameters, randomness)
    return frozenset(found.head_list.records())


@cache
def grouped(seed: int) -> Counter[Survivors]:
    randomness = Randomness.seeded(seed)
    return Counter(survivors(randomness) for _ in range(N))


def record_by_record(seed: int) -> Counter[Survivors]:
    """Do what Fig. 3 says, word for word: a draw of noise for each distinct record."""
    randomness, noise = Randomness.seeded(seed), DiscreteLaplace(PARAMETERS.laplace_scale)
    tau = 1 + math.log(100)
    return Counter(
        frozenset(record for record, n in COUNTS.items() if n + noise.draw(randomness) > tau)
        for _ in range(N)
    )


def stated(least: int = 6, scale: float = 1) -> dict[Survivors, float]:
    """Multiply out Pr[n + Y ≥ least] with Y discrete Laplace, independent by record."""
    a = math.exp(-1 / scale)

    def passes(n: int) -> float:
        y = least - n
        return a**y / (1 + a) if y >= 1 else 1 - a ** (1 - y) / (1 + a)

    chances = {record: passes(n) for record, n in COUNTS.items()}
    return {
        frozenset(record for record, passed in zip(chances, outcome, strict=True) if passed): (
            math.prod(
                p if passed else 1 - p for p, passed in zip(chances.values(), outcome, strict=True)
            )
        )
        for outcome in product([True, False], repeat=len(chances))
    }


ALL_SETS = list(stated())


def test_survivors_follow_the_law_of_a_draw_for_each_record(seed: int) -> None:
    assert least_passing_count(PARAMETERS) == 6
    assert_frequencies(grouped(seed), stated())


def test_grouped_draws_agree_with_a_draw_for_each_record(seed: int) -> None:
    naive = record_by_record(seed + 1)
    assert_frequencies(naive, stated())
    assert_same_law(grouped(seed), naive, ALL_SETS)


@pytest.mark.parametrize("record", COUNTS)
def test_each_record_is_included_as_often_as_its_count_says(record: Record, seed: int) -> None:
    expected = sum(p for found, p in stated().items() if record in found)
    included = Counter({True: 0, False: 0})
    for found, times in grouped(seed).items():
        included[record in found] += times
    assert_frequencies(included, {True: expected, False: 1 - expected})


def test_records_of_one_class_survive_independently(seed: int) -> None:
    """The pair of equal counts that one class holds; also a pair from two classes."""
    for pair in [{Record("a", "1"), Record("b", "1")}, {Record("a", "2"), Record("c", "1")}]:
        expected = Counter[int]()
        drawn = Counter[int]()
        for found, p in stated().items():
            expected[len(found & pair)] += p  # type: ignore[assignment]  # a Counter of floats
            drawn[len(found & pair)] += grouped(seed)[found]
        assert_frequencies(drawn, expected)


class FirstOnes(Randomness):
    """A source with a broken choice: always the first of a class."""

    def choose(self, count: int, among: int) -> IntArray:
        assert count <= among
        return np.arange(count)


RARE = [record for record, n in COUNTS.items() if n == 5]
"""The class of three."""


def test_a_choice_that_is_not_uniform_is_caught(seed: int) -> None:
    off = Counter[Survivors]()
    for found, p in stated().items():
        first = frozenset(RARE[: len(found.intersection(RARE))])
        off[found.difference(RARE) | first] += p  # type: ignore[assignment]  # floats
    assert_sample_catches(N, stated(), off)
    randomness = FirstOnes(seed.to_bytes(32), is_private=False)
    draws = Counter(survivors(randomness) for _ in range(N))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, stated())


def test_a_class_that_shares_one_draw_of_noise_is_caught(seed: int) -> None:
    """Each record alone is right; the pair is not: what only the joint law shows."""
    both_or_none = Counter[Survivors]()
    for found, p in stated().items():
        together = frozenset(RARE if RARE[0] in found else [])
        both_or_none[found.difference(RARE) | together] += p  # type: ignore[assignment]  # floats
    assert_sample_catches(N, stated(), both_or_none)
    randomness, noise = Randomness.seeded(seed), DiscreteLaplace(PARAMETERS.laplace_scale)

    def shared() -> Survivors:
        by_class = {n: n + noise.draw(randomness) >= 6 for n in set(COUNTS.values())}
        return frozenset(record for record, n in COUNTS.items() if by_class[n])

    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(Counter(shared() for _ in range(N)), stated())


@pytest.mark.parametrize("least", [5, 7])
def test_a_threshold_off_by_one_is_caught(least: int, seed: int) -> None:
    assert_sample_catches(N, stated(), stated(least))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(grouped(seed), stated(least))


def test_an_epsilon_a_tenth_off_is_caught(seed: int) -> None:
    """τ = 1 + (2/1.8)·ln 100 = 6.1: a noisy count must now reach 7, with wider noise."""
    assert_sample_catches(N, stated(), stated(least=7, scale=2 / 1.8))
    randomness = Randomness.seeded(seed)
    off = dataclasses.replace(PARAMETERS, epsilon=1.8)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(Counter(survivors(randomness, off) for _ in range(N)), stated())


@pytest.mark.parametrize("arrange", [sorted, lambda items: sorted(items, reverse=True)])
def test_the_order_of_the_data_leaves_no_trace(
    arrange: Callable[[list[tuple[Record, int]]], list[tuple[Record, int]]], seed: int
) -> None:
    """Byte order whatever came first (reading R5)."""
    popular = {Record(q, u): 10**6 for q in ("é", "z", "Z", "a") for u in ("2", "10", "ß")}
    users = CountedUsers(dict(arrange(list(popular.items()))))
    found = create_head_list(users, PARAMETERS, Randomness.seeded(seed)).head_list
    assert found.queries == ("Z", "a", "z", "é")
    assert set(found.urls) == {("10", "2", "ß")}


def test_the_list_says_how_it_was_made(seed: int) -> None:
    users = CountedUsers(COUNTS)
    seeded = create_head_list(users, PARAMETERS, Randomness.seeded(seed)).head_list
    assert not seeded.private
    assert seeded.mechanism == LocalAlgMechanism.of(PARAMETERS)
    assert create_head_list(users, PARAMETERS, Randomness.secure()).head_list.private


def test_users_without_any_record_give_an_empty_list(seed: int) -> None:
    empty = create_head_list(CountedUsers({}), PARAMETERS, Randomness.seeded(seed)).head_list
    assert empty == HeadList.of([], mechanism=LocalAlgMechanism.of(PARAMETERS), private=False)
