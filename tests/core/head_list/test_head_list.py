"""The head list: byte order on both levels, ⋆ as a position, and where a record is counted."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.head_list.head_list import HeadList, Record, in_byte_order

MECHANISM = LocalAlgMechanism(
    epsilon=4.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1
)
STARS = ["*", "⋆", "★", "", "None"]

texts = st.one_of(st.text(max_size=6), st.sampled_from(STARS))
records = st.lists(st.builds(Record, texts, texts), max_size=20)


def listing(of: Sequence[Record]) -> HeadList:
    return HeadList.of(of, mechanism=MECHANISM, private=True)


@given(found=records, order=st.randoms(use_true_random=False))
def test_the_order_of_discovery_leaves_no_trace(found: list[Record], order: object) -> None:
    shuffled = list(found)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis does not say its type
    assert listing(found) == listing(shuffled)


@given(found=records)
def test_both_levels_are_in_byte_order_without_repetitions(found: list[Record]) -> None:
    head_list = listing(found)
    for names in (head_list.queries, *head_list.urls):
        encoded = [name.encode() for name in names]
        assert encoded == sorted(set(encoded))
    assert set(head_list.records()) == set(found)


def test_byte_order_is_not_the_order_of_characters_or_of_case() -> None:
    names = ["~", "é", "Z", "a", "\U0001f600", "￿", "", "ﬀ"]
    head_list = listing([Record(name, "u") for name in names])
    assert head_list.queries == ("", "Z", "a", "~", "é", "ﬀ", "￿", "\U0001f600")
    assert not in_byte_order(["a", "Z"])
    assert not in_byte_order(["a", "a"])


@given(found=records)
def test_the_cells_are_those_of_the_records_in_order(found: list[Record]) -> None:
    head_list = listing(found)
    assert head_list.cells.urls_per_query[:-1].tolist() == [len(u) + 1 for u in head_list.urls]
    index = head_list.cell_index()
    cells_of_records = [index.cell(*record) for record in head_list.records()]
    assert cells_of_records == head_list.cells.listed.tolist()


@given(found=records, query=texts, url=texts)
def test_folding_lands_on_the_list_and_keeps_what_is_listed(
    found: list[Record], query: str, url: str
) -> None:
    """Fig. 6 lines 8-11: an unknown query is ⋆, whose only URL is ⋆; an unknown URL is ⋆."""
    head_list = listing(found)
    cells, cell = head_list.cells, head_list.cell_index().cell(query, url)
    if Record(query, url) in found:
        assert head_list.records()[cells.listed.tolist().index(cell)] == Record(query, url)
    elif query in head_list.queries:
        assert cell == cells.star_of_query[head_list.queries.index(query)]
    else:
        assert cell == cells.other


@pytest.mark.parametrize("star", STARS)
def test_an_asterisk_is_an_ordinary_query_and_an_ordinary_url(star: str) -> None:
    head_list = listing([Record(star, star), Record("news", "n.example")])
    index, cells = head_list.cell_index(), head_list.cells
    position = head_list.queries.index(star)
    assert index.cell(star, star) == cells.first_cell[position]
    assert index.cell(star, "x") == cells.star_of_query[position] != cells.other
    assert index.cell("x", star) == cells.other
    assert index.cell("news", star) == cells.star_of_query[head_list.queries.index("news")]


@pytest.mark.parametrize("missing", [(None, None), ("news", None), (None, "n.example")])
def test_a_user_without_a_record_is_everything_else(missing: tuple[str, str]) -> None:
    head_list = listing([Record("news", "n.example")])
    assert head_list.cell_index().cell(*missing) == head_list.cells.other


@given(found=records, choice=st.sets(st.integers(0, 30)))
def test_keeping_some_queries_keeps_all_their_urls(found: list[Record], choice: set[int]) -> None:
    head_list = listing(found)
    kept = [i for i in range(len(head_list.queries)) if i in choice]
    shorter = head_list.keeping(kept)
    names = {head_list.queries[i] for i in kept}
    assert shorter.records() == [r for r in head_list.records() if r.query in names]
    assert (shorter.mechanism, shorter.private) == (head_list.mechanism, head_list.private)


@pytest.mark.parametrize(
    ("queries", "urls"),
    [
        (("b", "a"), (("u",), ("u",))),
        (("a", "a"), (("u",), ("u",))),
        (("a",), (("v", "u"),)),
        (("a",), (("u", "u"),)),
    ],
)
def test_a_list_out_of_order_is_a_broken_invariant(
    queries: tuple[str, ...], urls: tuple[tuple[str, ...], ...]
) -> None:
    with pytest.raises(BrokenInvariantError, match="byte order, without repetitions"):
        HeadList(queries=queries, urls=urls, mechanism=MECHANISM, private=True)


@pytest.mark.parametrize(
    ("queries", "urls"),
    [
        (("a",), ()),
        ((), (("u",),)),
        (("a", "b"), (("u",),)),
        (("a", "b"), (("u",), ())),
    ],
)
def test_a_query_without_urls_among_others_is_a_broken_invariant(
    queries: tuple[str, ...], urls: tuple[tuple[str, ...], ...]
) -> None:
    with pytest.raises(BrokenInvariantError, match="at least one URL"):
        HeadList(queries=queries, urls=urls, mechanism=MECHANISM, private=True)


def test_a_list_of_queries_has_one_cell_for_each() -> None:
    records = [
        Record("news", "n.example"),
        Record("maps", "m.example"),
        Record("news", "o.example"),
    ]
    listed = HeadList.of(records, mechanism=MECHANISM, private=True, of_queries=True)
    assert (listed.queries, listed.urls) == (("maps", "news"), ((), ()))
    assert listed.is_of_queries
    assert listed.records() == []
    assert listed.discovered() == [Record("maps", "-"), Record("news", "-")]
    cells = listed.cells
    assert cells.cell_count == 3
    assert not cells.is_listed.any()
    assert cells.discovered.tolist() == [0, 1]
    index = listed.cell_index()
    assert [index.cell(q, "n.example") for q in ("maps", "news", "mail")] == [0, 1, 2]


def test_an_empty_list_folds_everything_into_one_cell() -> None:
    head_list = listing([])
    assert head_list.records() == []
    assert head_list.cell_index().cell("news", "n.example") == head_list.cells.other == 0
