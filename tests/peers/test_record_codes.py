"""Codes of records are one-to-one and spread neighbours apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.record_codes import RecordCodes, bits_for


@given(st.integers(1, 40), st.integers(0, 2**40))
def test_a_number_has_one_code_and_gets_back_from_it(bits: int, number: int) -> None:
    codes = RecordCodes(bits)
    number %= 2**bits
    (code,) = codes.encode(np.array([number]))
    assert 0 <= code < 2**bits
    assert codes.decode(code) == number


def test_a_thousand_neighbours_have_a_thousand_codes_under_many_prefixes() -> None:
    codes = RecordCodes(22).encode(np.arange(1_000))
    assert len(set(codes)) == 1_000
    assert len({code >> 11 for code in codes}) > 700  # of 2,048, were they drawn: about 790


def test_the_fewest_bits_that_will_do() -> None:
    assert [bits_for(n) for n in (1, 2, 3, 4, 5, 2**22, 2**22 + 1)] == [1, 1, 2, 2, 3, 22, 23]
