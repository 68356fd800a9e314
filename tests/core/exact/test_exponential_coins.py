"""Coins of probability e^-x and geometric numbers follow their laws.

Each assertion raises a false alarm with probability at most 1e-9. (Slopes a
twentieth apart are told apart in the draws of the noise that is made of these.)
"""

import math
from collections import Counter
from fractions import Fraction

import pytest

from blender_dp.core.exact.exponential_coins import exp_coin, geometric
from blender_dp.core.exact.randomness import Randomness
from exact_tests import assert_frequencies, assert_sample_catches

N = 18_000
"""Draws that show a slope wrong by three parts in twenty; checked below."""
N_EACH = 5_000
SLOPE = Fraction(3, 8)
SLOPES = [Fraction(1, 100), Fraction(123456789, 1 << 30), Fraction(5, 2), Fraction(700)]
BINS = 7
"""The rest, from 7/4 of 1/slope on, is one outcome: there a wrong slope shows most."""


def drawn(slope: Fraction, number: int, seed: int) -> Counter[int]:
    """Count by bins of a quarter of 1/slope, and the rest in the last."""
    randomness, width = Randomness.seeded(seed), bin_width(slope)
    return Counter(min(geometric(slope, randomness) // width, BINS) for _ in range(number))


def bin_width(slope: Fraction) -> int:
    return max(1, math.ceil(1 / slope / 4))


def stated(slope: Fraction, width: int) -> dict[int, float]:
    """Pr[G ≥ g] = e^(-slope·g), so a bin has the difference of two such numbers."""
    tails = [math.exp(-slope * width * i) for i in range(BINS + 1)]
    return {i: tails[i] - tails[i + 1] for i in range(BINS)} | {BINS: tails[BINS]}


def test_geometric_numbers_follow_the_stated_law(seed: int) -> None:
    assert_frequencies(drawn(SLOPE, N, seed), stated(SLOPE, bin_width(SLOPE)))


@pytest.mark.parametrize("error", [Fraction(17, 20), Fraction(23, 20)])
def test_a_slope_fifteen_percent_off_is_caught(error: Fraction, seed: int) -> None:
    off, width = SLOPE * error, bin_width(SLOPE)
    assert bin_width(off) == width
    assert_sample_catches(N, stated(SLOPE, width), stated(off, width))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(drawn(off, N, seed + 1), stated(SLOPE, width))


@pytest.mark.parametrize("slope", SLOPES)
def test_gentle_and_steep_slopes_follow_the_stated_law(slope: Fraction, seed: int) -> None:
    assert_frequencies(drawn(slope, N_EACH, seed + 2), stated(slope, bin_width(slope)))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 7), Fraction(1)])
def test_a_coin_shows_heads_with_probability_e_to_the_minus_x(x: Fraction, seed: int) -> None:
    randomness = Randomness.seeded(seed)
    heads = Counter(exp_coin(x.numerator, x.denominator, randomness) for _ in range(N_EACH))
    assert_frequencies(heads, {True: math.exp(-x), False: 1 - math.exp(-x)})
