"""What is suggested, compared with a search through every query, one by one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.errors import ParameterError
from blender_dp.local_search.folding import fold, word_starts
from blender_dp.local_search.search import LocalSearch
from blender_dp.local_search.serving import ServingRule
from releases import query_row, record_row, release_of

EVERYTHING = ServingRule(significance=0, fewest_users=0, widest_difference=1e9)
letters = st.sampled_from("abcç ßn.天気")
texts = st.text(letters, min_size=1, max_size=9)
lists_of_queries = st.lists(texts, min_size=1, max_size=80, unique=True)


def searching(queries: list[str]) -> LocalSearch:
    """Search these queries, the first the most popular."""
    return LocalSearch(
        release_of({query: 0.01 / (rank + 1) for rank, query in enumerate(queries)}),
        rule=EVERYTHING,
    )


def going_on(queries: list[str], fits: Callable[[str], bool]) -> list[str]:
    """Return the queries that go on, from the start of a word, as ``fits`` says."""
    return [
        query
        for query in queries
        if any(fits(fold(query)[start:] + " ") for start in word_starts(fold(query)))
    ]


def one_slip_apart(one: str, other: str) -> bool:
    """Tell by brute force whether one edit, or none, leads from one text to the other."""
    if one == other:
        return True
    edits = set()
    for i in range(len(one) + 1):
        edits.add(one[:i] + one[i + 1 :])
        edits.add(one[:i] + one[i + 1 : i + 2] + one[i : i + 1] + one[i + 2 :])
        for letter in set(other):
            edits |= {one[:i] + letter + one[i:], one[:i] + letter + one[i + 1 :]}
    return other in edits


@given(lists_of_queries, texts, st.integers(1, 100))
def test_suggestions_are_all_that_go_on_from_what_was_typed(
    queries: list[str], typed: str, limit: int
) -> None:
    word = fold(typed)
    expected = going_on(queries, lambda entry: entry.startswith(word)) if word else []
    if not typed.strip():
        expected = queries
    found = searching(queries).suggest(typed.rstrip(), limit=limit)
    if expected:
        assert [suggestion.query for suggestion in found] == expected[:limit]
        assert not any(suggestion.is_correction for suggestion in found)
    else:
        assert all(suggestion.is_correction for suggestion in found)


@given(lists_of_queries, texts)
def test_one_slip_is_forgiven_when_nothing_fits(queries: list[str], typed: str) -> None:
    word = fold(typed)
    if len(word) < 3 or going_on(queries, lambda entry: entry.startswith(word)):
        return

    def nearly_fits(entry: str) -> bool:
        return any(one_slip_apart(word, entry[:n]) for n in range(len(word) - 1, len(word) + 2))

    found = searching(queries).suggest(typed, limit=100)
    assert [suggestion.query for suggestion in found] == going_on(queries, nearly_fits)
    assert all(suggestion.is_correction for suggestion in found)


@given(lists_of_queries, texts)
def test_suggestions_come_in_order_and_once(queries: list[str], typed: str) -> None:
    found = searching(queries).suggest(typed, limit=100)
    probabilities = [suggestion.probability for suggestion in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len({suggestion.query for suggestion in found}) == len(found)


def queries_for(search: LocalSearch, typed: str) -> list[str]:
    return [suggestion.query for suggestion in search.suggest(typed)]


QUERIES = ["google", "www.google.com", "new york", "news", "Zürich", "天気予報", "東京 天気", "c++"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("goo", ["google", "www.google.com"]),
        ("GOOGLE.C", ["www.google.com"]),
        ("new", ["new york", "news"]),
        ("new ", ["new york"]),
        ("news ", ["news"]),
        ("york", ["new york"]),
        ("zuri", ["Zürich"]),
        ("天", ["天気予報", "東京 天気"]),
        ("予報", ["天気予報"]),
        ("c+", ["c++"]),
        ("gogle", ["google", "www.google.com"]),
        ("goolge", ["google", "www.google.com"]),
        ("hoogle", ["google", "www.google.com"]),
        ("googgle", ["google", "www.google.com"]),
        ("gg", []),
        ("???", []),
        ("\ud800", []),
        ("x" * 10_000, []),
    ],
)
def test_what_people_type_finds_what_they_mean(typed: str, expected: list[str]) -> None:
    assert queries_for(searching(QUERIES), typed) == expected


@pytest.mark.parametrize("nothing", ["", "  ", "\t"])
def test_nothing_typed_gives_the_most_popular(nothing: str) -> None:
    assert queries_for(searching(QUERIES), nothing) == QUERIES


def test_a_query_of_signs_only_is_found_among_all_and_by_no_word() -> None:
    search = searching(["???", "a"])
    assert queries_for(search, "") == ["???", "a"]
    assert queries_for(search, "?") == []


def test_an_empty_release_suggests_nothing() -> None:
    search = LocalSearch(release_of({}))
    assert [search.suggest(typed) for typed in ("", "a", "aaaa")] == [[], [], []]
    assert len(search) == 0


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ParameterError, match="limit must be at least 1"):
        searching(QUERIES).suggest("goo", limit=limit)


def test_pages_stand_below_their_query_each_once_and_the_likeliest_first() -> None:
    urls = [
        ("http://b.example", 0.005),
        ("javascript:alert(1)", 0.004),
        ("a.example", 0.003),
        ("https://A.example:443/?utm_source=x#top", 0.0029),
        ("http://x@a.example/", 0.002),
    ]
    records = [record_row("a", url, probability) for url, probability in urls]
    release = release_of([query_row("a", 0.02)], records)
    (suggestion,) = LocalSearch(release).suggest("a")
    assert [(link.address, link.probability) for link in suggestion.links] == [
        ("https://a.example/", pytest.approx(0.0059)),
        ("http://b.example/", 0.005),
        ("http://a.example/", 0.002),
    ]
