"""The normal tail lies between the two fractions that are said to enclose it, far out too."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from blender_dp.core.exact.normal_tail import gaussian_delta, normal_tail

POINTS = [
    *(Fraction(n, 10) for n in range(0, 100, 7)),
    *(Fraction(x) for x in ("1e-9", "3.999999", "4", "12.5", "25", "40")),
]


@cache
def _pi(digits: int) -> Decimal:
    """Add up Bailey, Borwein and Plouffe's series: another one than the code's."""
    with localcontext() as context:
        context.prec = digits + 10
        terms = (
            (
                Decimal(4) / (8 * k + 1)
                - Decimal(2) / (8 * k + 4)
                - Decimal(1) / (8 * k + 5)
                - Decimal(1) / (8 * k + 6)
            )
            / Decimal(16) ** k
            for k in range(digits)
        )
        return sum(terms, Decimal(0))


@cache
def reference(x: Fraction, digits: int = 60) -> Fraction:
    """Add up the alternating series 1/2 - Σ (-1)^n x^(2n+1)/(2^n n! (2n+1))/√(2π) for x ≥ 0.

    Its terms are as large as e^(x²/2) and its sum as small as e^(-x²/2): so many more digits.
    """
    more = digits + ceil(x**2 * Fraction(9, 20)) + 10
    with localcontext() as context:
        context.prec = more
        at = Decimal(x.numerator) / Decimal(x.denominator)
        power, total, n = at, at, 0
        while abs(power) > Decimal(10) ** -more:
            n += 1
            power *= -at * at / (2 * n)
            total += power / (2 * n + 1)
        return Fraction(Decimal("0.5") - total / (2 * _pi(more)).sqrt())


def assert_encloses(x: Fraction, bits: int) -> None:
    """Hold the reference, up to its own error, with the digits that were asked for."""
    low, high = normal_tail(x, bits).ends()
    true = reference(x) if x >= 0 else 1 - reference(-x)
    assert low - true / 10**58 <= true <= high + true / 10**58
    assert 0 <= high - low <= true / (1 << (bits - 1))


@pytest.mark.parametrize("x", POINTS, ids=float)
def test_the_tail_is_enclosed(x: Fraction) -> None:
    assert_encloses(x, 96)


@settings(max_examples=40)
@given(x=st.fractions(-12, 12, max_denominator=10**12), bits=st.integers(16, 160))
def test_the_tail_is_enclosed_wherever_it_is_asked_for(x: Fraction, bits: int) -> None:
    assert_encloses(x, bits)


@pytest.mark.parametrize("x", [*POINTS, Fraction(60)], ids=float)
def test_the_tail_agrees_with_an_independent_library(x: Fraction) -> None:
    low, _ = normal_tail(x, 64).ends()
    logarithm = log(low.numerator) - log(low.denominator)
    assert logarithm == pytest.approx(log_ndtr(-float(x)), rel=1e-12, abs=1e-12)


@given(x=st.fractions(0, 9, max_denominator=1000), step=st.fractions(0, 1, max_denominator=99))
def test_the_tail_falls(x: Fraction, step: Fraction) -> None:
    assert normal_tail(x + step, 64).ends()[0] <= normal_tail(x, 64).ends()[1]


@pytest.mark.parametrize("x", [Fraction(6401, 100), Fraction(10**9)], ids=float)
def test_the_farthest_tail_lies_between_nothing_and_next_to_nothing(x: Fraction) -> None:
    low, high = normal_tail(x, 64).ends()
    assert low == 0
    assert log_ndtr(-64.0) <= (log(high.numerator) - log(high.denominator)) < -890 * log(10)
    assert normal_tail(-x, 64).ends() == (1 - high, Fraction(1))


def grid_divergence(mu: float, epsilon: float) -> float:
    """Add up max(0, p - e^ε·q) for normal laws at μ and at 0: what δ is, by its definition."""
    z = np.linspace(-9, 9 + mu, 400_001)
    p, q = (np.exp(-((z - at) ** 2) / 2) / np.sqrt(2 * np.pi) for at in (mu, 0.0))
    return float(np.maximum(p - exp(epsilon) * q, 0).sum() * (z[1] - z[0]))


@pytest.mark.parametrize(
    ("mu", "epsilon"), [("0.26", "1"), ("0.9", "4"), ("0.05", "0.25"), ("3.4", "12"), ("1", "0")]
)
def test_the_privacy_curve_is_the_divergence_of_two_normal_laws(mu: str, epsilon: str) -> None:
    curve = float(gaussian_delta(Fraction(mu), Fraction(epsilon)))
    assert curve == pytest.approx(grid_divergence(float(mu), float(epsilon)), rel=1e-5)


@settings(max_examples=30)
@given(
    mu=st.fractions(Fraction(1, 50), 4, max_denominator=1000),
    epsilon=st.fractions(0, 6, max_denominator=1000),
)
def test_the_privacy_curve_is_never_too_low_and_hardly_too_high(
    mu: Fraction, epsilon: Fraction
) -> None:
    first, second = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if second > 30:  # the reference takes its time, and δ is below 10^-190
        return
    with localcontext() as context:
        context.prec = 80
        odds = Fraction((Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp())
    tail = reference(first, 80) if first >= 0 else 1 - reference(-first, 80)
    true = tail - odds * reference(second, 80)
    curve = gaussian_delta(mu, epsilon)
    assert -true / 10**50 <= curve - true <= true / 10**30


def test_a_curve_without_its_second_term_would_be_caught() -> None:
    """The twin: Q(ε/μ - μ/2) alone is another curve by far."""
    alone = float(normal_tail(Fraction("3.7"), 64).ends()[1])
    assert alone != pytest.approx(grid_divergence(0.26, 1), rel=0.1)
