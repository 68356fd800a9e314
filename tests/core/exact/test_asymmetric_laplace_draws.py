"""Draws of the law of two slopes, given a least value, follow it exactly.

Each assertion raises a false alarm with probability at most 1e-9; values far out are pooled, so
that the outcomes are fixed before anything is drawn.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace
from blender_dp.core.exact.randomness import Randomness
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches

N = 110_000
"""Draws that show a right slope wrong by one part in twenty; checked below."""
N_LEFT = 12_000
"""Draws that show a left slope wrong by one part in five; these cost more."""
N_EACH = 3_000
NOISE = AsymmetricLaplace(right=Fraction(1, 2), left=Fraction(2, 7))
PLAN_LIKE = AsymmetricLaplace(
    right=Fraction(1_882_487_219_211, 1 << 40), left=2 - Fraction(1_882_487_219_211, 1 << 40)
)
"""Slopes 1.712 and 0.288 with the long denominators that a plan has."""
LEAST = [-100_000, -7, -2, -1, 0, 3]


def pooled(y: int, least: int) -> int:
    """Pool from seven below zero on and from four above, where a wrong slope shows most."""
    return min(max(y, least, -7), max(least, 0) + 4)


def stated(noise: AsymmetricLaplace, least: int) -> dict[int, float]:
    """Normalise e^(-sR·y) and e^(sL·y) over y ≥ least, term by term."""
    right, left = float(noise.right), float(noise.left)
    lowest = max(least, -round(60 / left))
    weights = {y: math.exp(left * y if y < 0 else -right * y) for y in range(lowest, 500)}
    total = math.fsum(weights.values())
    law = Counter[int]()
    for y, weight in weights.items():
        law[pooled(y, least)] += weight / total  # type: ignore[assignment]  # a Counter of floats
    return dict(law)


@cache
def drawn(noise: AsymmetricLaplace, least: int, number: int, seed: int) -> Counter[int]:
    randomness = Randomness.seeded(seed)
    draws = [noise.draw_at_least(least, randomness) for _ in range(number)]
    assert min(draws) >= least
    return Counter(pooled(y, least) for y in draws)


@pytest.mark.parametrize("least", LEAST)
@pytest.mark.parametrize("noise", [NOISE, PLAN_LIKE], ids=["short", "long"])
def test_draws_follow_the_stated_law(noise: AsymmetricLaplace, least: int, seed: int) -> None:
    assert_frequencies(drawn(noise, least, N_EACH, seed), stated(noise, least))


def test_many_draws_follow_the_stated_law(seed: int) -> None:
    assert_frequencies(drawn(NOISE, 0, N, seed), stated(NOISE, 0))


def test_a_right_slope_five_percent_off_is_caught(seed: int) -> None:
    off = AsymmetricLaplace(right=NOISE.right * Fraction(19, 20), left=NOISE.left)
    assert_sample_catches(N, stated(NOISE, 0), stated(off, 0))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(drawn(off, 0, N, seed + 1), stated(NOISE, 0))


def test_a_left_slope_a_fifth_off_is_caught(seed: int) -> None:
    off = AsymmetricLaplace(right=NOISE.right, left=NOISE.left * Fraction(6, 5))
    expected = stated(NOISE, -100_000)
    assert_sample_catches(N_LEFT, expected, stated(off, -100_000))
    assert_frequencies(drawn(NOISE, -100_000, N_LEFT, seed + 1), expected)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(drawn(off, -100_000, N_LEFT, seed + 1), expected)


@pytest.mark.parametrize("least", [-5, -2])
def test_a_least_value_off_by_one_is_caught(least: int, seed: int) -> None:
    """One value too far down, which has probability 0.03 or more: missed once in 10^39."""
    with pytest.raises(AssertionError, match=f"impossible outcomes: \\['{least - 1}'"):
        assert_frequencies(drawn(NOISE, least - 1, N_EACH, seed), stated(NOISE, least))


@pytest.mark.parametrize("least", [-7, -1])
def test_a_side_decided_by_a_fair_coin_is_caught(least: int, seed: int) -> None:
    """The coin has probability Pr[Y ≥ 0 | Y ≥ least], here 0.32 and 0.62."""
    expected = stated(PLAN_LIKE, least)
    right = sum(p for y, p in expected.items() if y >= 0)
    fair = {y: p / 2 / (right if y >= 0 else 1 - right) for y, p in expected.items()}
    assert_sample_catches(N_EACH, expected, fair)
    rng = np.random.default_rng(seed)
    draws = Counter(rng.choice(list(fair), p=list(fair.values()), size=N_EACH).tolist())
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, expected)


def test_draws_agree_with_a_difference_of_geometric_numbers(seed: int) -> None:
    """What the law is, by another way: two geometric numbers of numpy, kept if large enough."""
    rng, least = np.random.default_rng(seed), -7
    geometric = [rng.geometric(-math.expm1(-s), 40_000) for s in (NOISE.right, NOISE.left)]
    difference = geometric[0] - geometric[1]
    theirs = Counter(pooled(int(y), least) for y in difference[difference >= least])
    assert_frequencies(theirs, stated(NOISE, least))
    assert_same_law(drawn(NOISE, least, N_EACH, seed), theirs, list(stated(NOISE, least)))


def test_a_draw_far_below_zero_costs_no_more(seed: int) -> None:
    """As many bits for a count of 10^15 as for one of 10^5: work does not grow with the count."""

    class Counting(Randomness):
        taken = 0

        def draw_bytes(self, count: int) -> bytes:
            self.taken += count
            return super().draw_bytes(count)

    def bytes_taken(least: int) -> int:
        randomness = Counting(seed.to_bytes(32), is_private=False)
        for _ in range(200):
            NOISE.draw_at_least(least, randomness)
        return randomness.taken

    assert bytes_taken(-(10**15)) == bytes_taken(-(10**5))
