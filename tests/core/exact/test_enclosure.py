"""Enclosures hold the number they are said to hold, and narrow when asked."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blender_dp.core.exact.enclosure import (
    Enclosure,
    decay_enclosure,
    exp_enclosure,
    ln_enclosure,
    pi_enclosure,
)

DIGITS = 200
"""Of the reference: far beyond the 154 digits of the widest enclosure asked for here."""

bits_asked = st.integers(8, 512)
unit_fractions = st.fractions(0, 1, max_denominator=10**9)


def as_decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def exp_reference(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(as_decimal(x).exp())


def ln_reference(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(as_decimal(x).ln())


def ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    one = 1 << enclosure.bits
    return Fraction(enclosure.low, one), Fraction(enclosure.high, one)


def assert_holds(enclosure: Enclosure, x: Fraction, units: int) -> None:
    """Hold x, up to the error of the reference itself, within so many units of the last place."""
    low, high = ends(enclosure)
    slack = abs(x) / 10 ** (DIGITS - 2)
    assert low - slack <= x <= high + slack
    assert 0 <= enclosure.high - enclosure.low <= units


def around(p: Fraction, bits: int, below: int, above: int) -> Enclosure:
    """Enclose p somewhat vaguely."""
    tight = Enclosure.of(p, p, bits)
    return Enclosure(max(tight.low - below, 0), tight.high + above, bits)


@given(x=st.fractions(-60, 0, max_denominator=10**12), bits=bits_asked)
def test_the_exponential_is_enclosed_within_two_units(x: Fraction, bits: int) -> None:
    assert_holds(exp_enclosure(x, bits), exp_reference(x), units=2)


@pytest.mark.parametrize("bits", [96, 256])
@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(-1, 10**300), Fraction(-700), Fraction(-(10**300))]
)
def test_the_exponential_of_an_extreme_is_enclosed(x: Fraction, bits: int) -> None:
    enclosure = exp_enclosure(x, bits)
    if x < -700:
        assert enclosure == Enclosure(0, 1, bits)
    else:
        assert_holds(enclosure, exp_reference(x), units=2)
        assert enclosure.high <= 1 << bits


@given(bits=st.integers(8, 400), nearby=st.integers(-3, 3))
def test_the_shortcut_for_vanishing_exponentials_is_an_enclosure(bits: int, nearby: int) -> None:
    x = Fraction(-bits) + Fraction(nearby, 1000)
    assert_holds(exp_enclosure(x, bits), exp_reference(x), units=2)


@given(x=st.fractions(Fraction(1, 10**9), 10**9, max_denominator=10**9), bits=bits_asked)
def test_the_logarithm_is_enclosed_within_two_units(x: Fraction, bits: int) -> None:
    assume(x != 1)  # its neighbours on the number line have a million digits, which takes a second
    assert_holds(ln_enclosure(x, bits), ln_reference(x), units=2)


@pytest.mark.parametrize("x", [Fraction(10) ** 300, Fraction(1, 10**300), 1 - Fraction(1, 10**60)])
def test_the_logarithm_of_an_extreme_is_enclosed(x: Fraction) -> None:
    assert_holds(ln_enclosure(x, 256), ln_reference(x), units=2)


@given(x=st.fractions(-20, 0, max_denominator=1000), bits=bits_asked, more=st.integers(1, 100))
def test_more_bits_narrow_an_enclosure(x: Fraction, bits: int, more: int) -> None:
    wide, narrow = exp_enclosure(x, bits), exp_enclosure(x, bits + more)
    (low, high), (finer_low, finer_high) = ends(wide), ends(narrow)
    assert finer_high - finer_low <= Fraction(2, 1 << (bits + more))
    assert max(low, finer_low) <= min(high, finer_high)


@given(low=unit_fractions, width=unit_fractions, bits=bits_asked)
def test_rounding_is_outwards_by_less_than_a_unit(
    low: Fraction, width: Fraction, bits: int
) -> None:
    rounded_low, rounded_high = ends(Enclosure.of(low, low + width, bits))
    unit = Fraction(1, 1 << bits)
    assert low - unit < rounded_low <= low
    assert low + width <= rounded_high < low + width + unit


@given(p=unit_fractions, bits=st.integers(16, 256), n=st.integers(0, 200), vague=st.integers(0, 3))
def test_a_power_encloses_the_power(p: Fraction, bits: int, n: int, vague: int) -> None:
    enclosure = around(p, bits, vague, vague).power(n)
    low, high = ends(enclosure)
    assert low <= p**n <= high


@given(p=unit_fractions, n=st.integers(1, 1000))
def test_a_power_stays_narrow(p: Fraction, n: int) -> None:
    """Each factor adds its own width, and each of the 2·log₂ n roundings a unit, times up to n."""
    enclosure = Enclosure.of(p, p, 256).power(n)
    assert enclosure.high - enclosure.low <= 8 * n


@given(
    p=unit_fractions,
    d=st.fractions(1, 2, max_denominator=10**9),
    bits=st.integers(16, 256),
    vague=st.integers(0, 3),
)
def test_a_quotient_encloses_the_quotient(p: Fraction, d: Fraction, bits: int, vague: int) -> None:
    enclosure = around(p, bits, vague, vague).over(around(d, bits, vague, vague))
    low, high = ends(enclosure)
    assert low <= p / d <= high
    assert enclosure.high - enclosure.low <= 4 * vague + 6


@given(p=unit_fractions, f=unit_fractions, bits=st.integers(16, 256), vague=st.integers(0, 3))
def test_a_product_encloses_the_product(p: Fraction, f: Fraction, bits: int, vague: int) -> None:
    enclosure = around(p, bits, vague, vague).times(around(f, bits, vague, vague))
    low, high = ends(enclosure)
    assert low <= p * f <= high
    assert enclosure.high - enclosure.low <= 4 * vague + 6


@given(slope=st.fractions(0, 60, max_denominator=10**12), bits=bits_asked)
def test_a_decay_is_the_exponential_of_minus_the_slope(slope: Fraction, bits: int) -> None:
    assert decay_enclosure(slope, bits) == exp_enclosure(-slope, bits)


@given(p=unit_fractions, bits=bits_asked)
def test_a_complement_encloses_one_minus_p(p: Fraction, bits: int) -> None:
    enclosure = Enclosure.of(p, p, bits)
    low, high = ends(enclosure.complement())
    assert low <= 1 - p <= high
    assert enclosure.complement().complement() == enclosure


@given(data=st.data(), bits=st.integers(1, 64))
def test_leading_digits_are_shared_by_everything_enclosed(data: st.DataObject, bits: int) -> None:
    one = 1 << bits
    low = data.draw(st.integers(0, one - 1))
    high = data.draw(st.integers(low, one))
    digits, known = Enclosure(low, high, bits).leading_digits()
    assert 0 <= known <= bits
    highest = min(high, one - 1)  # 1 is 0.111…
    assert low >> (bits - known) == digits == highest >> (bits - known)
    if known < bits and low != high:
        assert low >> (bits - known - 1) != highest >> (bits - known - 1)


def test_the_digits_of_one_are_ones() -> None:
    """The number 1 is 0.111…, also when it is known exactly."""
    assert Enclosure(255, 256, 8).leading_digits() == (255, 8)
    assert Enclosure(256, 256, 8).leading_digits() == (255, 8)


def test_an_undecided_first_digit_leaves_nothing_known() -> None:
    assert Enclosure(127, 129, 8).leading_digits() == (0, 0)


@given(p=st.fractions(0, 50, max_denominator=10**9), q=unit_fractions, bits=bits_asked)
def test_a_product_is_enclosed_whatever_its_factors_lost(
    p: Fraction, q: Fraction, bits: int
) -> None:
    low, high = ends(around(p, bits, 2, 3).times(around(q, bits, 1, 1)))
    assert low <= p * q <= high
    assert (high - low) * (1 << bits) <= 6 * (p + q + 1) + 4


@given(p=st.fractions(0, 50, max_denominator=10**9), bits=bits_asked)
def test_a_root_is_enclosed(p: Fraction, bits: int) -> None:
    low, high = around(p, bits, 1, 1).root().ends()
    assert 0 <= low**2 <= p <= high**2


@pytest.mark.parametrize("bits", [8, 96, 512, 3000])
def test_pi_is_enclosed_within_two_units(bits: int) -> None:
    """Chudnovsky's series, another one than the code's, with 14 digits a term."""
    with localcontext() as context:
        context.prec = 950
        total, factor, linear = Decimal(13591409), Decimal(1), 13591409
        for k in range(1, 70):
            linear += 545140134
            factor *= -Decimal((6 * k - 5) * (2 * k - 1) * (6 * k - 1)) / (k**3 * (640320**3 // 24))
            total += factor * linear
        pi = Fraction(426880 * Decimal(10005).sqrt() / total)
    low, high = pi_enclosure(bits).ends()
    assert low <= pi <= high
    assert pi_enclosure(bits).high - pi_enclosure(bits).low <= 2


@given(p=unit_fractions, bits=st.integers(8, 64), more=st.integers(0, 64))
def test_more_bits_leave_the_ends_where_they_are(p: Fraction, bits: int, more: int) -> None:
    enclosure = around(p, bits, 1, 2)
    assert enclosure.widened(bits + more).ends() == enclosure.ends() == ends(enclosure)
