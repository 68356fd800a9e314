"""Draws follow the discrete Laplace law, and agree with an independent implementation.

Each assertion raises a false alarm with probability at most 1e-9; magnitudes far out are pooled,
so that the outcomes are fixed before anything is drawn.
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cache

import opendp.prelude as dp
import pytest

from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.randomness import Randomness
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches

N = 110_000
"""Draws that show a scale wrong by one part in twenty; checked below."""
N_EACH = 15_000
"""Draws that show a scale wrong by one part in five, for each of several scales."""
SCALE = Fraction(8)
SCALES = [Fraction(1, 350), Fraction(1, 5), Fraction(1, 2), Fraction(20), Fraction(2_000_000, 3)]

FAR = "far"

dp.enable_features("contrib")


def step_of(scale: Fraction) -> int:
    """Return the width of the bins: single values for narrow noise, quarters of b for wide."""
    return max(1, math.ceil(scale / 4))


def binned(draws: Iterable[int], step: int) -> Counter[int | str]:
    """Count by bin; from eight bins away on, by ``FAR``, where a wrong scale shows most."""
    return Counter(y // step if -8 <= y // step < 8 else FAR for y in draws)


def stated(scale: Fraction, step: int) -> dict[int | str, float]:
    """Derive the probabilities of the bins from Pr[Y ≥ y] = a^y/(1+a), y ≥ 1, in floats."""
    a = math.exp(-1 / scale)

    def tail(y: int) -> float:
        return a**y / (1 + a) if y >= 1 else 1 - a ** (1 - y) / (1 + a)

    near: dict[int | str, float] = {i: tail(step * i) - tail(step * (i + 1)) for i in range(-8, 8)}
    return near | {FAR: tail(8 * step) + 1 - tail(-8 * step)}


@cache
def drawn(scale: Fraction, number: int, seed: int) -> tuple[int, ...]:
    noise, randomness = DiscreteLaplace(scale), Randomness.seeded(seed)
    return tuple(noise.draw(randomness) for _ in range(number))


def test_draws_follow_the_stated_law(seed: int) -> None:
    step = step_of(SCALE)
    assert_frequencies(binned(drawn(SCALE, N, seed), step), stated(SCALE, step))


@pytest.mark.parametrize("error", [Fraction(19, 20), Fraction(21, 20)])
def test_a_scale_five_percent_off_is_caught(error: Fraction, seed: int) -> None:
    step = step_of(SCALE)
    draws = binned(drawn(SCALE * error, N, seed + 1), step)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, stated(SCALE, step))


@pytest.mark.parametrize("error", [Fraction(19, 20), Fraction(21, 20)])
def test_the_sample_is_large_enough_to_catch_it(error: Fraction) -> None:
    step = step_of(SCALE)
    assert_sample_catches(N, stated(SCALE, step), stated(SCALE * error, step))


@pytest.mark.parametrize("scale", SCALES)
def test_draws_follow_the_stated_law_for_narrow_and_wide_noise(scale: Fraction, seed: int) -> None:
    step = step_of(scale)
    assert_frequencies(binned(drawn(scale, N_EACH, seed + 2), step), stated(scale, step))


@pytest.mark.parametrize("scale", SCALES[1:])
def test_a_scale_a_fifth_off_is_caught_for_narrow_and_wide_noise(
    scale: Fraction, seed: int
) -> None:
    step, off = step_of(scale), scale * Fraction(6, 5)
    assert_sample_catches(N_EACH, stated(scale, step), stated(off, step))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(binned(drawn(off, N_EACH, seed + 3), step), stated(scale, step))


@pytest.mark.parametrize("scale", [SCALE, Fraction(1, 2)])
def test_either_sign_is_as_likely_far_from_zero_as_near(scale: Fraction, seed: int) -> None:
    """A draw of zero that counted once for each sign would leave too many zeros, not more signs."""
    draws = drawn(SCALE, N, seed) if scale == SCALE else drawn(scale, N_EACH, seed + 2)
    for least in (1, math.ceil(scale), math.ceil(2 * scale)):
        signs = Counter(y > 0 for y in draws if abs(y) >= least)
        assert_frequencies(signs, {True: 0.5, False: 0.5})


def test_the_lowest_digits_of_wide_noise_are_uniform(seed: int) -> None:
    """A draw put together from coarse steps would show here.

    Modulo 8 the law of scale 20 is uniform but for a^8-terms, computed below.
    """
    a = math.exp(-1 / 20)
    residues = {r: (1 - a) / (1 + a) * (a**r + a ** (8 - r)) / (1 - a**8) for r in range(1, 8)} | {
        0: (1 - a) / (1 + a) * (1 + a**8) / (1 - a**8)
    }
    draws = drawn(Fraction(20), N_EACH, seed + 2)
    assert_frequencies(Counter(y % 8 for y in draws), residues)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(Counter((y // 2 * 2) % 8 for y in draws), residues)


def by_opendp(scale: float, number: int) -> list[int]:
    """Draw with OpenDP's exact sampler, which shares no code with ours."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    noisy: list[int] = dp.m.make_laplace(*space, scale=scale)([0] * number)
    return noisy


def test_draws_agree_with_opendp(seed: int) -> None:
    step = 1
    ours = binned(drawn(Fraction(2), N_EACH, seed), step)
    theirs = binned(by_opendp(2.0, N_EACH), step)
    assert_frequencies(theirs, stated(Fraction(2), step))
    assert_same_law(ours, theirs, list(stated(Fraction(2), step)))


def test_a_disagreement_with_opendp_would_be_caught(seed: int) -> None:
    """Two samples halve what one shows: the difference is a half here.

    P(far) is about 0.028 at b = 2 and 0.094 at b = 3: 15,000 draws of each give about 420 and
    1,400, some 22 deviations apart where 7 raise the alarm.
    """
    step = 1
    ours = binned(drawn(Fraction(3), N_EACH, seed), step)
    with pytest.raises(AssertionError, match="of the first sample"):
        assert_same_law(ours, binned(by_opendp(2.0, N_EACH), step), list(stated(Fraction(2), step)))
