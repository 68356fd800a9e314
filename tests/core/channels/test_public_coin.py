"""The public coin: the same for everybody who computes it, and blind to the data."""

import hashlib
from collections import Counter

import pytest

from blender_dp.core.channels.public_coin import (
    asked_for_query,
    question_for,
    who_is_asked_for_query,
)
from blender_dp.core.exact.randomness import Randomness
from exact_tests import assert_frequencies, assert_sample_catches

CLIENTS = 12_000


def coin_by_hand(name: bytes) -> float:
    """Return the number in [0, 1) that the stated rule gives an id."""
    digest = hashlib.sha256(b"blender-dp public coin 1\x00" + name).hexdigest()
    return int(digest[:16], 16) / 2**64


def test_the_coin_follows_from_the_stated_rule() -> None:
    for name in ("", "client 1", "é★", "0" * 100):
        coin = coin_by_hand(name.encode())
        for share in (0.0, 0.1, 0.25, 0.5, 0.9, coin + 1e-9):
            expected = coin < share
            assert asked_for_query(name, share) is expected
            assert asked_for_query(name.encode(), share) is expected


def test_many_coins_are_those_of_each() -> None:
    names = [f"client {i}".encode() for i in range(500)]
    edge = coin_by_hand(names[0])
    for share in (0.0, 1e-19, 0.3, edge, 1 - 2**-53):
        expected = [asked_for_query(name, share) for name in names]
        assert who_is_asked_for_query(names, share).tolist() == expected
    assert who_is_asked_for_query([], 0.5).tolist() == []


def test_without_a_share_nobody_is_asked() -> None:
    assert not any(asked_for_query(f"client {i}", 0.0) for i in range(1000))
    assert not any(question_for(0.0, None, Randomness.secure()) == "query" for _ in range(100))


def asked(share: float, seed: int) -> Counter[bool]:
    return Counter(asked_for_query(f"{seed} {i}", share) for i in range(CLIENTS))


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_the_share_of_the_clients_is_asked(share: float, seed: int) -> None:
    """False alarm 1e-9, exact; ids are those of this seed. Four fifths of the share is caught."""
    expected = {True: share, False: 1 - share}
    assert_frequencies(asked(share, seed), expected)
    assert_sample_catches(CLIENTS, expected, {True: 0.8 * share, False: 1 - 0.8 * share})
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(asked(0.8 * share, seed), expected)


def test_a_device_without_an_id_tosses_its_own_coin(seed: int) -> None:
    randomness = Randomness.seeded(seed)
    tossed: Counter[str] = Counter(question_for(0.25, None, randomness) for _ in range(CLIENTS))
    assert_frequencies(tossed, {"query": 0.25, "record": 0.75})
    by_id = {question_for(0.5, "client 7", randomness) for _ in range(20)}
    assert by_id == {"query" if asked_for_query("client 7", 0.5) else "record"}
