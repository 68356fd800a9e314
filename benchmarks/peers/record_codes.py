"""Codes of records: short strings, for protocols that find unknown strings."""

from dataclasses import dataclass

from blender_dp.core.head_list.cells import IntArray

_ODD = 0x9E3779B1
"""2³² divided by the golden ratio: multiplying by it spreads neighbours apart."""


@dataclass(frozen=True, slots=True)
class RecordCodes:
    """A public one-to-one map from the numbers below 2^bits to themselves.

    Neighbours get unrelated prefixes. Otherwise the prefix that a popular record shares with its
    neighbours would say how numbers were given out. A real string is longer than these codes: so
    short a one favours the protocol.
    """

    bits: int

    def encode(self, numbers: IntArray) -> list[int]:
        """Return the code of every number."""
        codes: list[int] = ((numbers * _ODD) & (2**self.bits - 1)).tolist()
        return codes

    def decode(self, code: int) -> int:
        """Return the number that has this code."""
        codes = 1 << self.bits
        return code * pow(_ODD, -1, codes) % codes


def bits_for(numbers: int) -> int:
    """Return the fewest bits that this many numbers need."""
    return max((numbers - 1).bit_length(), 1)
