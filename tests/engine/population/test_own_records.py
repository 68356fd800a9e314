"""Whole numbers are divided exactly, also where an engine divides in doubles."""

from dataclasses import dataclass
from math import floor
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blender_dp.engine.population.keyed_permutation import quotient


@dataclass(frozen=True)
class InDoubles:
    """A whole number as Spark sees it through narwhals: ``//`` rounds down a double."""

    number: int

    def _with(self, other: Any, result: int) -> "InDoubles":
        assert -(2**63) <= result < 2**63, f"overflow with {other}"
        return InDoubles(result)

    def __add__(self, other: Any) -> "InDoubles":
        return self._with(other, self.number + _int(other))

    def __sub__(self, other: Any) -> "InDoubles":
        return self._with(other, self.number - _int(other))

    def __mul__(self, other: Any) -> "InDoubles":
        return self._with(other, self.number * _int(other))

    def __mod__(self, other: Any) -> "InDoubles":
        return self._with(other, self.number % _int(other))

    def __floordiv__(self, other: Any) -> "InDoubles":
        return self._with(other, floor(float(self.number) / float(_int(other))))


def _int(value: Any) -> int:
    return int(getattr(value, "number", value))


def divided(dividend: int, divisor: int) -> int:
    a: Any = InDoubles(dividend)
    b: Any = InDoubles(divisor)
    return _int(quotient(a, b))


@given(share=st.integers(0, 2**30), unit=st.integers(1, 2**30))
def test_squares_of_shares_are_exact(share: int, unit: int) -> None:
    share = min(share, unit)
    assert divided(share * share, unit) == share * share // unit


@given(rows=st.integers(1, 2**31 - 1), of=st.integers(1, 2**31 - 1))
def test_shares_are_exact(rows: int, of: int) -> None:
    rows, of = min(rows, of), max(rows, of)
    assert divided(rows << 30, of) == (rows << 30) // of


def test_a_quotient_of_doubles_alone_would_be_wrong() -> None:
    dividend = 2**60 - 1
    assert _int(InDoubles(dividend) // 2**30) == 2**30
    assert divided(dividend, 2**30) == dividend // 2**30 == 2**30 - 1
