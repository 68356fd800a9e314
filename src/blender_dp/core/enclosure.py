"""Real numbers between two fractions: what an exact sampler may know of e^x or ln x.

A float would do for display. A sampler of something that is released must not round: it asks
for an enclosure, and for a narrower one where the first does not decide. Everything is in
integers: an enclosure of so many bits holds multiples of 2^-bits.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
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
        low = high = 1 << self.bits
        base_low, base_high = self.low, self.high
        while exponent:
            if exponent & 1:
                low, high = low * base_low >> self.bits, -(-high * base_high >> self.bits)
            base_low, base_high = base_low**2 >> self.bits, -(-(base_high**2) >> self.bits)
            exponent >>= 1
        return Enclosure(low, high, self.bits)

    def over(self, divisor: "Enclosure") -> "Enclosure":
        """Enclose p/d for positive numbers of the same number of bits."""
        return Enclosure(
            (self.low << self.bits) // divisor.high,
            -(-(self.high << self.bits) // divisor.low),
            self.bits,
        )

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


def ln_enclosure(x: Fraction, bits: int) -> Enclosure:
    """Enclose ln x for x > 0."""
    digits = bits // 3 + 5
    low, high = _decimals(x, digits)
    context = Context(prec=digits)
    return Enclosure.of(
        Fraction(context.next_minus(context.ln(low))),
        Fraction(context.next_plus(context.ln(high))),
        bits,
    )


def _decimals(x: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Return the nearest decimals of this many digits on either side of ``x``."""
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    return (
        Context(prec=digits, rounding=ROUND_FLOOR).divide(numerator, denominator),
        Context(prec=digits, rounding=ROUND_CEILING).divide(numerator, denominator),
    )


def _floor(x: Fraction, bits: int) -> int:
    return (x.numerator << bits) // x.denominator
