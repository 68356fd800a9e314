"""Enclosures of real numbers between two fractions, for exact samplers: e^x, ln x and others.

A float is enough for display. A sampler of released values must not round: it uses an enclosure,
and a narrower one if the first does not decide. Everything is in
integers: an enclosure with b bits holds multiples of 2^-b.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import NamedTuple


class Enclosure(NamedTuple):
    """A number that is at least ``low``/2^``bits`` and at most ``high``/2^``bits``."""

    low: int
    high: int
    bits: int

    @classmethod
    def of(cls, low: Fraction, high: Fraction, bits: int) -> "Enclosure":
        """Round outwards to multiples of 2^-bits."""
        return cls(_floor(low, bits), -_floor(-high, bits), bits)

    def complement(self) -> "Enclosure":
        """Enclose 1 - p."""
        one = 1 << self.bits
        return Enclosure(one - self.high, one - self.low, self.bits)

    def power(self, exponent: int) -> "Enclosure":
        """Enclose p^exponent for p between 0 and 1, by repeated squaring, rounding outwards."""
        product, base = Enclosure(1 << self.bits, 1 << self.bits, self.bits), self
        while exponent:
            if exponent & 1:
                product = product.times(base)
            base = base.times(base)
            exponent >>= 1
        return product

    def times(self, factor: "Enclosure") -> "Enclosure":
        """Enclose p·f for numbers of the same number of bits, neither negative."""
        return Enclosure(
            self.low * factor.low >> self.bits, -(-self.high * factor.high >> self.bits), self.bits
        )

    def over(self, divisor: "Enclosure") -> "Enclosure":
        """Enclose p/d for positive numbers of the same number of bits."""
        return Enclosure(
            (self.low << self.bits) // divisor.high,
            -(-(self.high << self.bits) // divisor.low),
            self.bits,
        )

    def root(self) -> "Enclosure":
        """Enclose √p for p ≥ 0."""
        return Enclosure(isqrt(self.low << self.bits), isqrt(self.high << self.bits) + 1, self.bits)

    def widened(self, bits: int) -> "Enclosure":
        """Return the same two ends, written with more bits."""
        more = bits - self.bits
        return Enclosure(self.low << more, self.high << more, bits)

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return the two fractions between which the number lies."""
        return Fraction(self.low, 1 << self.bits), Fraction(self.high, 1 << self.bits)

    def leading_digits(self) -> tuple[int, int]:
        """Return the binary digits after the point that every number enclosed shares.

        For numbers from 0 to 1; the digits come as one integer and their number.
        """
        ones = (1 << self.bits) - 1
        low, high = min(self.low, ones), min(self.high, ones)  # 1 is 0.111…
        known = self.bits - (low ^ high).bit_length()
        return low >> (self.bits - known), known


def exp_enclosure(x: Fraction, bits: int) -> Enclosure:
    """Enclose e^x for x ≤ 0.

    ``decimal`` rounds exp correctly, so one unit in the last place on each side is enough.
    """
    if -x > bits:  # e^x < 2^-bits
        return Enclosure(0, 1, bits)
    digits = bits // 3 + 5
    low, high = _decimals(x, digits)
    context = Context(prec=digits)
    return Enclosure.of(
        Fraction(context.next_minus(context.exp(low))),
        min(Fraction(context.next_plus(context.exp(high))), Fraction(1)),
        bits,
    )


@cache
def decay_enclosure(slope: Fraction, bits: int) -> Enclosure:
    """Enclose e^-slope for a slope ≥ 0; cached, because it is used often."""
    return exp_enclosure(-slope, bits)


def ln_enclosure(x: Fraction, bits: int) -> Enclosure:
    """Enclose ln x for x > 0."""
    if x == 1:  # the decimal beside 0 has a million digits
        return Enclosure(0, 0, bits)
    digits = bits // 3 + 5
    low, high = _decimals(x, digits)
    context = Context(prec=digits)
    return Enclosure.of(
        Fraction(context.next_minus(context.ln(low))),
        Fraction(context.next_plus(context.ln(high))),
        bits,
    )


@cache
def pi_enclosure(bits: int) -> Enclosure:
    """Enclose π = 16·arctan(1/5) - 4·arctan(1/239) (Machin, 1706)."""
    guard = 16  # both series together lose less than 20 units for each of their terms
    fifth, other = _arctan_of_inverse(5, bits + guard), _arctan_of_inverse(239, bits + guard)
    low, high = 16 * fifth.low - 4 * other.high, 16 * fifth.high - 4 * other.low
    return Enclosure(low >> guard, -(-high >> guard), bits)


def _arctan_of_inverse(n: int, bits: int) -> Enclosure:
    """Enclose arctan(1/n) = 1/n - 1/(3n³) + 1/(5n⁵) - …, for n ≥ 2.

    Every term is rounded down by less than one unit; the omitted rest is below one unit.
    """
    total, power, k = 0, (1 << bits) // n, 0
    while power:
        total += -(power // (2 * k + 1)) if k % 2 else power // (2 * k + 1)
        power //= n**2
        k += 1
    return Enclosure(total - k - 1, total + k + 1, bits)


def _decimals(x: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Return the nearest decimals of this many digits on either side of ``x``."""
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    return (
        Context(prec=digits, rounding=ROUND_FLOOR).divide(numerator, denominator),
        Context(prec=digits, rounding=ROUND_CEILING).divide(numerator, denominator),
    )


def _floor(x: Fraction, bits: int) -> int:
    return (x.numerator << bits) // x.denominator
