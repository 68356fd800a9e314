"""Order of a batch: a permutation that a key decides, uniform and independent of arrival."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.relay.shuffle import KEY_BYTES, shuffled
from exact_tests import assert_frequencies, assert_sample_catches

REPORTS = [bytes([i]) * 66 for i in range(4)]
DRAWS = 24_000
Order = tuple[int, ...]
EXPECTED: dict[Order, float] = dict.fromkeys(permutations(range(4)), 1 / factorial(4))


def orders(shuffle: Callable[[Iterable[bytes], bytes], list[bytes]]) -> Counter[Order]:
    """Draw the order of four reports many times, each with a key of its own."""
    return Counter(
        tuple(report[0] for report in shuffle(REPORTS, os.urandom(KEY_BYTES))) for _ in range(DRAWS)
    )


def test_every_order_is_equally_likely() -> None:
    """Exact binomial tests of all 24 orders; false alarms below one in a billion."""
    assert_frequencies(orders(shuffled), EXPECTED)


def test_a_relay_that_does_not_shuffle_is_caught() -> None:
    arrived: dict[Order, float] = dict.fromkeys(EXPECTED, 0.0) | {(0, 1, 2, 3): 1.0}
    assert_sample_catches(DRAWS, EXPECTED, arrived)
    with pytest.raises(AssertionError, match=r"expected 0\.04167"):
        assert_frequencies(orders(lambda reports, _: list(reports)), EXPECTED)


def test_a_relay_that_seldom_keeps_the_order_is_caught() -> None:
    """One batch in twenty keeps the order of arrival."""
    kept = 0.05
    off = {order: (1 - kept) * p for order, p in EXPECTED.items()}
    off[0, 1, 2, 3] += kept
    assert_sample_catches(DRAWS, EXPECTED, off)

    def seldom(reports: Iterable[bytes], key: bytes) -> list[bytes]:
        return list(reports) if key[0] < 256 * kept else shuffled(reports, key)

    with pytest.raises(AssertionError, match=r"expected 0\.04167"):
        assert_frequencies(orders(seldom), EXPECTED)


@given(st.sets(st.binary(min_size=66, max_size=66), max_size=40), st.randoms(), st.binary())
def test_the_order_depends_on_the_set_and_the_key_only(
    reports: set[bytes], coins: object, salt: bytes
) -> None:
    key = salt[:KEY_BYTES].ljust(KEY_BYTES, b"\0")
    arrived = sorted(reports)
    coins.shuffle(arrived)  # type: ignore[attr-defined]
    assert shuffled(arrived, key) == shuffled(sorted(reports), key)
    assert sorted(shuffled(arrived, key)) == sorted(reports)
