"""Binomial counts follow the binomial law, for any probability whose digits can be computed.

Every draw is compared with scipy's law by exact tails; each assertion raises a false alarm with
probability at most 1e-9.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from blender_dp.core.exact.binomial import FIRST_BITS, binomial, binomial_each
from blender_dp.core.exact.enclosure import Enclosure, exp_enclosure
from blender_dp.core.exact.randomness import Randomness
from exact_tests import assert_frequencies, assert_sample_catches

N = 12_000
LEFT, RIGHT = "fewer than shown", "more than shown"

Digits = Callable[[int], Enclosure]


def known(p: Fraction) -> Digits:
    return lambda bits: Enclosure.of(p, p, bits)


def draw(trials: int, probability: Digits, seed: int) -> Counter[int | str]:
    randomness = Randomness.seeded(seed)
    start, stop = shown_range(trials)
    drawn = (binomial(trials, probability, randomness) for _ in range(N))
    return Counter(LEFT if k < start else RIGHT if k >= stop else k for k in drawn)


def shown_range(trials: int) -> tuple[int, int]:
    """Return the counts looked at one by one: all of a few, some in the middle of many."""
    return (0, trials + 1) if trials <= 20 else (trials // 3 - 20, trials // 3 + 20)


def stated(trials: int, p: float) -> dict[int | str, float]:
    start, stop = shown_range(trials)
    law = binom(trials, p)
    shown: dict[int | str, float] = {k: float(law.pmf(k)) for k in range(start, stop)}
    return shown | {LEFT: float(law.cdf(start - 1)), RIGHT: float(law.sf(stop - 1))}


@pytest.mark.parametrize(
    ("trials", "p"),
    [
        (1, Fraction(1, 3)),
        (5, Fraction(7, 10)),
        (20, Fraction(1, 7)),
        (500, Fraction(1, 3)),
        (1000, Fraction(33, 100)),
        (3, Fraction(1, 1000)),
        (3, Fraction(999, 1000)),
    ],
)
def test_counts_follow_the_binomial_law(trials: int, p: Fraction, seed: int) -> None:
    assert_frequencies(draw(trials, known(p), seed), stated(trials, float(p)))


@pytest.mark.parametrize("error", [0.85, 1.15])
def test_a_probability_a_little_off_is_caught(error: float, seed: int) -> None:
    off = Fraction(1, 7) * Fraction(error)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draw(20, known(off), seed), stated(20, 1 / 7))


@pytest.mark.parametrize("error", [0.85, 1.15])
def test_the_sample_is_large_enough_to_catch_it(error: float) -> None:
    assert_sample_catches(N, stated(20, 1 / 7), stated(20, error / 7))


def test_an_irrational_probability_is_drawn_from_its_digits(seed: int) -> None:
    """e^-2 = 0.1353…"""
    draws = draw(8, lambda bits: exp_enclosure(Fraction(-2), bits), seed)
    assert_frequencies(draws, stated(8, 0.1353352832366127))


def test_digits_are_asked_for_until_the_coins_are_decided(seed: int) -> None:
    """The enclosure says nothing at first: half of [0, 1], then a little less at each request."""
    asked: list[int] = []

    def slow(bits: int) -> Enclosure:
        asked.append(bits)
        p, doubt = Fraction(1, 7), Fraction(1, 2 ** (bits // FIRST_BITS - 1) * 8)
        low, high = max(p - doubt, Fraction(0)), p + doubt
        return Enclosure.of(low, high, bits)

    assert_frequencies(draw(5, slow, seed), stated(5, 1 / 7))
    assert {FIRST_BITS, 2 * FIRST_BITS, 4 * FIRST_BITS} <= set(asked)
    assert all(later in (FIRST_BITS, 2 * before) for before, later in pairwise(asked))


@pytest.mark.parametrize("trials", [0, 1, 17, 100_000])
def test_a_vanishing_probability_gives_nothing_and_a_near_certain_one_everything(
    trials: int, seed: int
) -> None:
    """2^-90: of all trials here one succeeds with probability below 1e-22."""
    randomness = Randomness.seeded(seed)
    tiny = Fraction(1, 2**90) + Fraction(1, 3**80)
    assert binomial(trials, known(tiny), randomness) == 0
    assert binomial(trials, known(1 - tiny), randomness) == trials


def test_a_dyadic_probability_that_is_known_exactly_needs_no_more_digits(seed: int) -> None:
    assert_frequencies(draw(4, known(Fraction(3, 8)), seed), stated(4, 3 / 8))


def test_about_two_bits_a_trial_are_used(seed: int) -> None:
    """Of n tied coins half stay tied: n + n/2 + n/4 + … = 2n, and a little for rounding to bytes.

    The sum of 20,000 waiting times, each geometric with mean 2 and variance 2, leaves 2n by more
    than 10 deviations with probability far below 1e-9 (Chernoff).
    """
    used: list[int] = []

    class Counting(Randomness):
        def bits(self, count: int) -> int:
            used.append(count)
            return super().bits(count)

    trials = 20_000
    binomial(trials, known(Fraction(1, 3)), Counting(seed.to_bytes(32), is_private=False))
    assert abs(sum(used) - 2 * trials) < 10 * (2 * trials) ** 0.5


KINDS = [(7, 1, 3), (5000, 3, 10), (5000, 0, 9), (900, 9, 9), (0, 1, 2), (64, 1, 2), (3000, 97, 98)]
"""Coins and probability of each kind: few and many, never and always, none at all."""


def drawn_together(kinds: list[tuple[int, int, int]], seed: int) -> list[Counter[int]]:
    trials, numerators, denominators = (np.array(column) for column in zip(*kinds, strict=True))
    randomness = Randomness.seeded(seed)
    draws = [binomial_each(trials, numerators, denominators, randomness) for _ in range(3000)]
    return [Counter(column) for column in np.transpose(draws).tolist()]


def law_of(trials: int, p: float) -> dict[int, float]:
    """Return the law, what is rarer than one draw in 1e13 left out."""
    law = binom(trials, p)
    return {k: float(law.pmf(k)) for k in range(trials + 1) if law.pmf(k) > 1e-13}


def test_many_counts_drawn_together_follow_their_own_laws(seed: int) -> None:
    """Halves are compared: below the median or not, and each outcome of few coins."""
    for (trials, a, b), draws in zip(KINDS, drawn_together(KINDS, seed), strict=True):
        assert draws.total() == 3000
        if trials * a * (b - a) == 0:
            assert set(draws) == {trials * a // b}
        elif trials < 100:
            assert_frequencies(draws, law_of(trials, a / b))
        else:
            assert_frequencies(*quartiles(draws, trials, a / b))


def quartiles(draws: Counter[int], trials: int, p: float) -> tuple[Counter[int], dict[int, float]]:
    """Return how many draws fall between the quartiles of a law, and how many should."""
    expected = between_quartiles(trials, p, p)
    parts = {(a, b): sum(draws[k] for k in range(a + 1, b + 1)) for a, b in parts_of(trials, p)}
    return Counter(dict(enumerate(parts.values()))), expected


def parts_of(trials: int, p: float) -> list[tuple[int, int]]:
    law = binom(trials, p)
    return list(pairwise([-1, *(int(law.ppf(q)) for q in (0.25, 0.5, 0.75)), trials]))


def between_quartiles(trials: int, p: float, drawn_with: float) -> dict[int, float]:
    """Return how likely a draw falls between the quartiles for ``p``."""
    law = binom(trials, drawn_with)
    return {i: float(law.cdf(b) - law.cdf(a)) for i, (a, b) in enumerate(parts_of(trials, p))}


def test_a_probability_two_percent_off_is_caught_among_many(seed: int) -> None:
    (draws,) = drawn_together([(5000, 306, 1000)], seed)
    told, expected = quartiles(draws, 5000, 0.3)
    assert_sample_catches(3000, expected, between_quartiles(5000, 0.3, 0.306))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(told, expected)
