"""Draws follow the discrete Gaussian law, whole and in the tail; and how near the law is to normal.

Each assertion raises a false alarm with probability at most 1e-9; what is far out is pooled, so
that the outcomes are fixed before anything is drawn.
"""

import math
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact import discrete_gaussian
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.exponential_coins import exp_coin
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.normal_tail import normal_tail
from blender_dp.core.exact.randomness import Randomness
from exact_tests import assert_frequencies, assert_sample_catches

N = 140_000
"""Draws that show a deviation wrong by three parts in a hundred; checked below."""
N_EACH = 6_000
"""Draws that show a deviation wrong by one part in five."""
SIGMA = Fraction(9, 2)
OFF = Fraction(103, 100)
FAR_OFF = Fraction(6, 5)
WIDE = [UNIT, 6 * UNIT + 12_345, 1 << 36]


def density(x: int, sigma: Fraction) -> float:
    return math.exp(-(x**2) / (2 * float(sigma) ** 2))


def stated(sigma: Fraction, near: int = 7) -> dict[int | str, float]:
    """Give |X| below ``near`` one by one, and the rest together, from the density alone."""
    total = sum(density(x, sigma) for x in range(-100, 101))
    inside: dict[int | str, float] = {x: density(x, sigma) / total for x in range(-near + 1, near)}
    return inside | {"far": 1 - sum(inside.values())}


def counted(draws: Iterable[int], near: int = 7) -> Counter[int | str]:
    return Counter(x if abs(x) < near else "far" for x in draws)


@cache
def drawn(sigma: Fraction, number: int, seed: int) -> tuple[int, ...]:
    noise, randomness = DiscreteGaussian(sigma), Randomness.seeded(seed)
    return tuple(noise.draw(randomness) for _ in range(number))


def test_draws_follow_the_stated_law(seed: int) -> None:
    assert_frequencies(counted(drawn(SIGMA, N, seed)), stated(SIGMA))


def test_a_deviation_three_percent_off_is_caught(seed: int) -> None:
    """Of the two, the law is the one that is made wrong here: one sample serves both tests."""
    assert_sample_catches(N, stated(SIGMA * OFF), stated(SIGMA))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(counted(drawn(SIGMA, N, seed)), stated(SIGMA * OFF))


def test_either_sign_is_as_likely_far_from_zero_as_near(seed: int) -> None:
    for least in (1, 4, 9):
        signs = Counter(x > 0 for x in drawn(SIGMA, N, seed) if abs(x) >= least)
        assert_frequencies(signs, {True: 0.5, False: 0.5})


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(7, 5)])
def test_the_narrowest_noise_follows_the_stated_law(sigma: Fraction, seed: int) -> None:
    expected, off = stated(sigma, near=2), stated(sigma * FAR_OFF, near=2)
    assert_sample_catches(N_EACH, expected, off)
    assert_frequencies(counted(drawn(sigma, N_EACH, seed + 2), near=2), expected)
    draws = drawn(sigma * FAR_OFF, N_EACH, seed + 3)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(counted(draws, near=2), expected)


def normal_parts(scale: float = 1) -> dict[str, float]:
    """Cut |X| at half a deviation and at one and a half; a lattice of 2^30 does not show."""
    half, more = (2 * float(norm.sf(cut / scale)) for cut in (0.5, 1.5))
    return {"near": 1 - half, "middle": half - more, "far": more}


def parts(draws: Iterable[int], sigma: int) -> Counter[str]:
    return Counter(
        "near" if 2 * abs(x) < sigma else "middle" if 2 * abs(x) < 3 * sigma else "far"
        for x in draws
    )


@pytest.mark.parametrize("sigma", WIDE)
def test_noise_as_wide_as_it_is_used_is_normal(sigma: int, seed: int) -> None:
    noise, randomness = DiscreteGaussian(sigma), Randomness.seeded(seed)
    draws = [noise.draw(randomness) for _ in range(N_EACH)]
    assert_frequencies(parts(draws, sigma), normal_parts())
    assert_sample_catches(N_EACH, normal_parts(), normal_parts(6 / 5))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(parts((x * 6 // 5 for x in draws), sigma), normal_parts())
    # A draw put together from coarse steps would show in its lowest digits.
    assert_frequencies(Counter(x % 8 for x in draws), dict.fromkeys(range(8), 1 / 8))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(9, 4)])
def test_a_coin_of_any_exponent_has_its_probability(x: Fraction, seed: int) -> None:
    randomness, p = Randomness.seeded(seed), math.exp(-x)
    tosses = Counter(exp_coin(*x.as_integer_ratio(), randomness) for _ in range(10_000))
    assert_frequencies(tosses, {True: p, False: 1 - p} if x else {True: 1.0})


def exact_densities(sigma: Fraction, digits: int = 110) -> tuple[list[Fraction], Fraction]:
    """Return e^(-x²/2σ²) for x = 0, 1, … until it vanishes, and the sum over all integers."""
    with localcontext() as context:
        context.prec = digits
        densities = []
        for x in count():
            exponent = -(x**2) / (2 * sigma**2)
            value = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
            if value < Decimal(10) ** -digits:
                break
            densities.append(Fraction(value))
    return densities, 2 * sum(densities, Fraction(0)) - 1


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(3, 2), Fraction(5), Fraction(20)])
@pytest.mark.parametrize("bits", [64, 300])
def test_the_total_is_enclosed(sigma: Fraction, bits: int) -> None:
    """Poisson summation against the plain sum."""
    _, total = exact_densities(sigma)
    low, high = discrete_gaussian._total(sigma, bits).ends()
    slack = Fraction(1, 10**105)
    assert low - slack <= total <= high + slack
    assert high - low <= sigma * Fraction(64, 1 << bits)


@pytest.mark.parametrize(
    ("sigma", "least"), [(Fraction(1), 1), (Fraction(7, 2), 4), (Fraction(5), 19), (Fraction(9), 9)]
)
def test_the_chance_of_a_candidate_is_enclosed(sigma: Fraction, least: int) -> None:
    """Sum over x ≥ t of what dominates the density: e^(-t²/2σ²)·e^(-(x-t)·t/σ²)/Z."""
    densities, total = exact_densities(sigma)
    with localcontext() as context:
        context.prec = 110
        rate = -least / sigma**2
        ratio = Fraction((Decimal(rate.numerator) / Decimal(rate.denominator)).exp())
    expected = densities[least] / (1 - ratio) / total
    low, high = DiscreteGaussian(sigma).candidate_probability(least, 128).ends()
    assert low - Fraction(1, 10**90) <= expected <= high + Fraction(1, 10**90)
    assert high - low <= Fraction(1, 1 << 128)
    assert sum(densities[least:]) / total < low < high < Fraction(2, 5)


@settings(max_examples=25)
@given(sigma=st.integers(1 << 26, 1 << 44), deviations=st.fractions(1, 30, max_denominator=64))
def test_wide_noise_has_candidates_as_often_as_normal_noise(
    sigma: int, deviations: Fraction
) -> None:
    """φ(u)/u, of which a share of u·Q(u)/φ(u) stands."""
    low, high = (
        DiscreteGaussian(sigma).candidate_probability(math.ceil(deviations * sigma), 800).ends()
    )
    tail, _ = normal_tail(deviations, 64).ends()
    assert float(high / low) == pytest.approx(1, rel=1e-15)
    u = float(deviations)
    stands = u * math.exp(norm.logsf(u) - norm.logpdf(u))
    assert float(tail / low) == pytest.approx(stands, rel=1e-6)


SMALL, LEAST = Fraction(6), 8


def tail_outcomes(sigma: Fraction) -> dict[int | str, float]:
    """Pr[X = x, X ≥ t | candidate] by x up to 14, the rest beyond together, and not standing."""
    rate = LEAST / float(sigma) ** 2
    candidates = density(LEAST, sigma) / (1 - math.exp(-rate))
    law: dict[int | str, float] = {x: density(x, sigma) / candidates for x in range(LEAST, 15)}
    law["far"] = sum(density(x, sigma) for x in range(15, 200)) / candidates
    return law | {"none": 1 - sum(law.values())}


def candidates(noise: DiscreteGaussian, seed: int) -> Counter[int | str]:
    randomness = Randomness.seeded(seed)
    drawn = (noise.draw_candidate(LEAST, randomness) for _ in range(N_EACH))
    return Counter("none" if x is None else "far" if x >= 15 else x for x in drawn)


def test_candidates_follow_the_tail(seed: int) -> None:
    assert_frequencies(candidates(DiscreteGaussian(SMALL), seed), tail_outcomes(SMALL))


def test_a_tail_of_other_noise_is_caught(seed: int) -> None:
    off = SMALL * Fraction(6, 5)
    assert_sample_catches(N_EACH, tail_outcomes(SMALL), tail_outcomes(off))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(candidates(DiscreteGaussian(off), seed), tail_outcomes(SMALL))


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(5, 2), Fraction(12)])
def test_discrete_noise_is_as_near_to_rounded_normal_noise_as_the_proof_says(
    sigma: Fraction,
) -> None:
    """1 - 1/(24σ²) ≤ r/g ≤ (1 + θ)·e^(x²/8σ⁴), with θ ≤ 3·e^(-2π²σ²), at every x."""
    densities, total = exact_densities(sigma)
    theta = 3 * math.exp(-2 * (math.pi * float(sigma)) ** 2)
    for x, height in enumerate(densities[: math.ceil(8 * sigma)]):
        at = [Fraction(2 * x + side, 2) / sigma for side in (-1, 1)]
        rounded = normal_tail(at[0], 200).ends()[0] - normal_tail(at[1], 200).ends()[1]
        ratio = rounded * total / height
        assert ratio >= 1 - 1 / (24 * sigma**2)
        assert float(ratio) <= (1 + theta) * math.exp(x**2 / (8 * float(sigma) ** 4)) + 1e-12
    tails = [sum(densities[x:]) / total for x in range(1, math.ceil(8 * sigma))]
    for x, tail in enumerate(tails, start=1):
        bound = normal_tail(Fraction(2 * x - 1, 2) / sigma, 64).ends()[1]
        assert tail <= bound / (1 - 1 / (24 * sigma**2))


@pytest.mark.parametrize("sigma", [0.5, 2.0, 0, Fraction(1, 2), -3])
def test_noise_of_a_float_or_a_tiny_deviation_cannot_be_made(sigma: Any) -> None:
    with pytest.raises(BrokenInvariantError, match="a fraction, at least 1"):
        DiscreteGaussian(sigma)


def test_only_a_far_tail_is_drawn_alone() -> None:
    with pytest.raises(BrokenInvariantError, match="beyond one deviation"):
        DiscreteGaussian(10).candidate_probability(9, 64)
