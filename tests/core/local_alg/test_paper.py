"""LocalAlg reports what Fig. 6 says, one by one and vectorised.

The expectation is the matrix derived by hand. Each assertion raises a false alarm with
probability at most 1e-9; the twin with ε five percent off is caught as surely.
"""

from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from core.fig_6_by_hand import Promise, matrix

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.local_alg.paper import privatize, privatize_many
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches

N = 210_000
EPSILON = Fraction(3)
LISTED_URLS = [2, 1]
ERRORS = [Fraction(95, 100), Fraction(105, 100)]
CELLS = {"listed": 0, "another URL": 2, "everything else": 5}


def channel(epsilon: Fraction) -> LocalAlgChannel:
    return LocalAlgChannel.of(
        Cells.of(LISTED_URLS),
        LocalAlgMechanism(
            epsilon=float(epsilon), delta=1e-5, query_budget_fraction=0.85, records_per_client=1
        ),
    )


def stated(cell: int, epsilon: Fraction) -> dict[int, float]:
    return dict(enumerate(map(float, matrix(LISTED_URLS, Promise(epsilon))[cell])))


@cache
def one_by_one(cell: int, epsilon: Fraction, seed: int) -> Counter[int]:
    made, randomness = channel(epsilon), Randomness.seeded(seed)
    return Counter(privatize(cell, made, randomness) for _ in range(N))


@cache
def all_at_once(cell: int, epsilon: Fraction, seed: int) -> Counter[int]:
    true_cells = np.full(N, cell)
    reports = privatize_many(true_cells, channel(epsilon), Randomness.seeded(seed))
    return Counter(reports.tolist())


@pytest.mark.parametrize("draw", [one_by_one, all_at_once])
@pytest.mark.parametrize("kind", CELLS)
def test_reports_follow_the_stated_distribution(draw: object, kind: str, seed: int) -> None:
    assert callable(draw)
    cell = CELLS[kind]
    assert_frequencies(draw(cell, EPSILON, seed), stated(cell, EPSILON))


@pytest.mark.parametrize("draw", [one_by_one, all_at_once])
@pytest.mark.parametrize("error", ERRORS)
def test_an_epsilon_five_percent_off_is_caught(draw: object, error: Fraction, seed: int) -> None:
    assert callable(draw)
    draws = draw(0, EPSILON * error, seed + 1)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, stated(0, EPSILON))


@pytest.mark.parametrize("cell", CELLS.values())
@pytest.mark.parametrize("error", ERRORS)
def test_the_sample_is_large_enough_to_catch_it(cell: int, error: Fraction) -> None:
    assert_sample_catches(N, stated(cell, EPSILON), stated(cell, EPSILON * error))


@pytest.mark.parametrize("kind", CELLS)
def test_both_ways_of_drawing_agree(kind: str, seed: int) -> None:
    cell = CELLS[kind]
    assert_same_law(one_by_one(cell, EPSILON, seed), all_at_once(cell, EPSILON, seed), range(6))


def test_a_random_query_that_may_be_the_true_one_would_be_caught(seed: int) -> None:
    """A slip easily made: "a random query" drawn from all of HL, not from HL minus q.

    A liar then tells the truth once in three: ⟨⋆,⋆⟩ as truth gains a third of all lies.
    """
    said, other = stated(5, EPSILON), CELLS["everything else"]
    off = {cell: p * 2 / 3 for cell, p in said.items()}
    off[other] = said[other] + (1 - said[other]) / 3
    assert_sample_catches(N, said, off)
    draws = Randomness.seeded(seed)
    honest = one_by_one(other, EPSILON, seed)
    slipped = Counter({other: honest[other]})
    for cell, told in honest.items():
        if cell != other:
            back = sum(draws.below(3) == 0 for _ in range(told))
            slipped += Counter({other: back, cell: told - back})
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(slipped, said)


def test_reports_of_different_clients_are_independent(seed: int) -> None:
    """Neighbours in the array: both tell the query ⋆ as often as chance has it."""
    p = stated(0, EPSILON)[5]
    reports = privatize_many(
        np.zeros(2 * N, dtype=np.int64), channel(EPSILON), Randomness.seeded(seed)
    )
    both = Counter((reports[0::2] == 5).astype(int) + 2 * (reports[1::2] == 5))
    expected = {0: (1 - p) ** 2, 1: p * (1 - p), 2: p * (1 - p), 3: p * p}
    assert_frequencies(both, expected)


def test_many_blocks_are_drawn_as_one(seed: int) -> None:
    """More clients than one block of words holds, each reporting about its own cell."""
    true_cells = np.arange(200_000) % 6
    reports = privatize_many(true_cells, channel(Fraction(10**6)), Randomness.seeded(seed))
    assert reports.tolist() == true_cells.tolist()


def test_what_was_true_is_left_untouched(seed: int) -> None:
    true_cells = np.zeros(1000, dtype=np.int64)
    privatize_many(true_cells, channel(EPSILON), Randomness.seeded(seed))
    assert not true_cells.any()


@pytest.mark.parametrize("clients", [0, 1, 5])
def test_with_only_the_star_listed_everybody_says_the_star(clients: int, seed: int) -> None:
    """k = 1: nothing to choose from, nothing drawn (reading R3)."""
    only_star = LocalAlgChannel.of(
        Cells.of([]),
        LocalAlgMechanism(
            epsilon=1.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
        ),
    )
    randomness = Randomness.seeded(seed)
    assert privatize(0, only_star, randomness) == 0
    everybody = np.zeros(clients, dtype=np.int64)
    assert privatize_many(everybody, only_star, randomness).tolist() == [0] * clients


def test_nobody_reports_nothing(seed: int) -> None:
    none = np.zeros(0, dtype=np.int64)
    assert privatize_many(none, channel(EPSILON), Randomness.seeded(seed)).tolist() == []
