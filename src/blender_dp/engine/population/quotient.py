"""Whole division that every engine rounds alike."""

from typing import TypeVar

import narwhals as nw

Number = TypeVar("Number", int, nw.Expr)
"""A number, or a column of them in an engine's own arithmetic: one formula serves all."""


def quotient(dividend: Number, divisor: Number | int) -> Number:
    """Divide whole numbers, none negative, and round down: exact below 2^62 on every engine.

    Spark rounds down a quotient of doubles, which may be a little less than the whole number it
    stands for, or one more than it. About a half more than whole, and a quotient up to 2^31 + 1,
    that of the largest number and the prime, is right in doubles too.
    """
    whole = dividend - dividend % divisor
    return (whole + divisor // 2) // divisor
