"""The discrete Laplace law: its tail, its variance, and its identities, all without sampling."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.exact.discrete_laplace import DiscreteLaplace, variance
from blender_dp.core.exact.enclosure import Enclosure

DIGITS = 120
SCALES = [
    Fraction(1, 350),
    Fraction(1, 5),
    Fraction(1, 2),
    Fraction(2),
    Fraction(20),
    Fraction(10**7),
]
SLACK = Fraction(1, 10 ** (DIGITS - 20))
"""What the 120 digits of the reference leave open: nothing near the 2^-160 of the enclosures."""

scales = st.fractions(Fraction(1, 50), 1000, max_denominator=10**6)


def pmf(scale: Fraction, y: int) -> Fraction:
    """Pr[Y = y] = (1-a)/(1+a)·a^abs(y), from its definition."""
    with localcontext() as context:
        context.prec = DIGITS
        a = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
        return Fraction((1 - a) / (1 + a) * a ** abs(y))


def ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    one = 1 << enclosure.bits
    return Fraction(enclosure.low, one), Fraction(enclosure.high, one)


@given(scale=scales, y=st.integers(-300, 300), bits=st.integers(32, 200))
def test_neighbouring_tails_differ_by_the_stated_probability(
    scale: Fraction, y: int, bits: int
) -> None:
    noise = DiscreteLaplace(scale)
    (low, high), (next_low, next_high) = ends(noise.tail(y, bits)), ends(noise.tail(y + 1, bits))
    assert low - next_high - SLACK <= pmf(scale, y) <= high - next_low + SLACK


@pytest.mark.parametrize("scale", SCALES)
def test_the_probabilities_add_up_to_the_tail(scale: Fraction) -> None:
    """Pr[Y ≥ y] - Pr[Y ≥ 60] is the sum of what lies between, on both sides of zero."""
    noise = DiscreteLaplace(scale)
    last_low, last_high = ends(noise.tail(60, 160))
    total = Fraction(0)
    for y in range(59, -61, -1):
        total += pmf(scale, y)
        low, high = ends(noise.tail(y, 160))
        assert low - last_high - SLACK <= total <= high - last_low + SLACK


@given(scale=scales, y=st.integers(-10_000, 10_000), bits=st.integers(32, 200))
def test_the_law_is_symmetric(scale: Fraction, y: int, bits: int) -> None:
    """Pr[Y ≥ y] + Pr[Y ≥ 1-y] = 1, exactly, in the enclosures themselves."""
    noise = DiscreteLaplace(scale)
    assert noise.tail(y, bits) == noise.tail(1 - y, bits).complement()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("y", [-(10**6), -1, 0, 1, 2, 10**6])
def test_a_tail_is_a_probability_and_as_narrow_as_asked(scale: Fraction, y: int) -> None:
    enclosure = DiscreteLaplace(scale).tail(y, 128)
    low, high = ends(enclosure)
    assert 0 <= low <= high <= 1
    assert high - low <= Fraction(1, 1 << 128)


@given(scale=scales, y=st.integers(-200, 200))
def test_a_longer_tail_is_more_likely(scale: Fraction, y: int) -> None:
    noise = DiscreteLaplace(scale)
    assert noise.tail(y, 128).low >= noise.tail(y + 1, 128).low


def test_the_tail_at_one_by_hand() -> None:
    """With a = 1/2 the law is Pr[Y ≥ 1] = (1/2)/(3/2) = 1/3; b = 1/ln 2 is 1.442695…"""
    low, high = ends(DiscreteLaplace(Fraction(14426950408889634, 10**16)).tail(1, 64))
    assert abs(low - Fraction(1, 3)) < Fraction(1, 10**15)
    assert abs(high - Fraction(1, 3)) < Fraction(1, 10**15)


@pytest.mark.parametrize("scale", SCALES)
def test_the_variance_is_that_of_the_law(scale: Fraction) -> None:
    """2a/(1-a)², in 120 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        a = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
        stated = 2 * a / (1 - a) ** 2
    assert variance(scale) == pytest.approx(float(stated), rel=1e-13, abs=0)


@given(scale=st.fractions(Fraction(1, 10), 5, max_denominator=100))
def test_the_variance_is_the_sum_of_squares(scale: Fraction) -> None:
    by_hand = sum(2 * float(pmf(scale, y)) * y * y for y in range(1, int(60 * scale) + 5))
    assert variance(scale) == pytest.approx(by_hand, rel=1e-9, abs=0)


def test_the_variance_approaches_the_papers_for_wide_noise() -> None:
    """2b² is the variance of the real-valued law that the paper has (2b² - 1/6 + …)."""
    assert variance(Fraction(1000)) == pytest.approx(2e6 - 1 / 6, rel=1e-9)


@pytest.mark.parametrize("scale", [Fraction(1, 10**6), Fraction(2, 10**300)])
def test_noise_that_vanishes_has_no_variance(scale: Fraction) -> None:
    assert variance(scale) == 0
    assert ends(DiscreteLaplace(scale).tail(1, 96)) == (Fraction(0), Fraction(1, 1 << 160))
