"""Strings for ids: distinct, plain, and leading nowhere."""

import re
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.engine.synthetic import Shape, SyntheticLog
from blender_dp.engine.synthetic.names import (
    ADJECTIVES,
    HEAD_QUERIES,
    PLACES_AND_TRADES,
    TREES_AND_THINGS,
    query_numbers,
    query_words,
    url_addresses,
    url_numbers,
)
from blender_dp.engine.synthetic.shapes import MAX_QUERIES

query_ids = st.integers(0, MAX_QUERIES - 1)
url_ids = st.integers(0, 8)


def rank_of(name: str) -> int:
    """Read a name back, by hand: that this works is why no two names are the same."""
    if name in HEAD_QUERIES:
        return HEAD_QUERIES.index(name)
    adjective, thing, place, *number = name.split(" ")
    triple = (
        ADJECTIVES.index(adjective) * 10_000
        + TREES_AND_THINGS.index(thing) * 100
        + PLACES_AND_TRADES.index(place)
    )
    rank = triple * pow(618_033, -1, 1_000_000) % 1_000_000
    block = int(number[0]) - 1 if number else 0
    return 50 + block * 1_000_000 + rank


def empty_log(shape: Shape) -> SyntheticLog:
    nothing = np.empty(0, dtype=np.int64)
    return SyntheticLog(shape=shape, seed=0, users=1, user=nothing, query=nothing, url=nothing)


@pytest.mark.parametrize("words", [ADJECTIVES, TREES_AND_THINGS, PLACES_AND_TRADES])
def test_a_hundred_distinct_plain_words(words: tuple[str, ...]) -> None:
    assert len(set(words)) == len(words) == 100
    assert all(re.fullmatch("[a-z]+", word) for word in words)


def test_fifty_distinct_heads_that_no_tail_name_can_be() -> None:
    assert len(set(HEAD_QUERIES)) == len(HEAD_QUERIES) == 50
    assert not any(
        head.split(" ")[0] in ADJECTIVES and len(head.split(" ")) > 2 for head in HEAD_QUERIES
    )


@settings(deadline=None)  # the first call pays for imports that pyarrow puts off
@given(query_ids)
def test_a_name_can_be_read_back(query: int) -> None:
    assert rank_of(empty_log(Shape.AOL).query_name(query)) == query


def test_names_around_the_millionth_are_distinct() -> None:
    ids = np.concatenate([np.arange(100_000), np.arange(950_000, 1_150_000)])
    assert pc.count_distinct(query_words(ids)).as_py() == len(ids)
    assert pc.count_distinct(url_addresses(ids[50:], ids[50:] % 9)).as_py() == len(ids) - 50


@settings(deadline=None)  # the first call pays for imports that pyarrow puts off
@given(query_ids, url_ids, url_ids)
def test_addresses_of_a_query_differ_and_are_reserved(query: int, url: int, other: int) -> None:
    log = empty_log(Shape.ZIPF)
    address = log.url_name(query, url)
    assert (address == log.url_name(query, other)) == (url == other)
    assert re.fullmatch(r"(https://)?www\.[a-z0-9-]+\.example(/[a-z0-9]+)?", address)


def test_names_are_plain_ascii() -> None:
    names = query_words(np.arange(0, 5_000_000, 997)).to_pylist()
    assert all(re.fullmatch(r"[a-z0-9. ]+", name) for name in names)


@pytest.mark.parametrize(
    ("query", "url", "name", "address"),
    [
        (0, 0, "google", "https://www.google.example"),
        (0, 1, "google", "https://www.google.example/help"),
        (6, 0, "www.google.com", "https://www.google.example"),
        (49, 0, "gas prices", "https://www.gas-prices.example"),
        (50, 0, "able acorn academy", "www.able-acorn-academy.example/1"),
        (1_000_050, 8, "able acorn academy 2", "www.able-acorn-academy-2.example/9"),
    ],
)
def test_names_of_given_ids(query: int, url: int, name: str, address: str) -> None:
    log = empty_log(Shape.AOL_MULTI)
    assert log.query_name(query) == name
    assert log.url_name(query, url) == address


def test_neighbours_in_rank_share_no_word() -> None:
    names = [set(name.split()) for name in query_words(np.arange(50, 300)).to_pylist()]
    assert not any(left & right for left, right in pairwise(names))


@settings(deadline=None)  # the first call pays for imports that pyarrow puts off
@given(query_ids, query_ids, url_ids, url_ids)
def test_yandex_ids_are_distinct_numbers(query: int, other: int, url: int, other_url: int) -> None:
    log = empty_log(Shape.YANDEX)
    assert (log.query_name(query) == log.query_name(other)) == (query == other)
    same = (query, url) == (other, other_url)
    assert (log.url_name(query, url) == log.url_name(other, other_url)) == same
    assert 0 <= int(log.query_name(query)) < 2**26
    assert 10**9 <= int(log.url_name(query, url)) < 2**31


def test_the_first_yandex_ids_are_distinct() -> None:
    ids = np.arange(200_000)
    assert np.diff(np.sort(query_numbers(ids))).min() > 0
    assert np.diff(np.sort(url_numbers(ids, ids % 10))).min() > 0
