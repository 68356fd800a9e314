"""The bytes of a subset: as few as stated, read back as written, and nothing else is read."""

import base64
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.local_alg.sharp import choose_subsets
from blender_dp.wire.reports.packed_items import (
    ByteArray,
    ItemPacking,
    from_text,
    from_texts,
    rows_of_texts,
    table_of,
    to_text,
)

STATED_BYTES = {
    60: (8, 6, 1, 1),
    232: (29, 27, 4, 1),
    1000: (125, 125, 23, 3),
    3000: (375, 375, 80, 11),
}
"""Of a report at ε = 1, 2, 4, 6, by the number of cells."""
Shape = tuple[int, tuple[int, ...]]


@st.composite
def subsets(draw: st.DrawFn, most: int = 300) -> Shape:
    """Return a number of items and some of them."""
    size = draw(st.integers(1, most))
    named = draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size))
    return size, tuple(sorted(named))


def by_hand(packing: ItemPacking, items: tuple[int, ...]) -> bytes:
    """Write a report digit by digit, from the stated rule."""
    if packing.is_bitmap:
        digits = "".join("1" if x in items else "0" for x in range(packing.size))
    elif packing.bits_per_item:
        digits = "".join(f"{x:0{packing.bits_per_item}b}" for x in items)
    else:
        digits = ""
    digits += "0" * (-len(digits) % 8)
    return bytes(int(digits[i : i + 8], 2) for i in range(0, len(digits), 8))


def rows(*reports: bytes) -> ByteArray:
    return np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(len(reports), -1)


@pytest.mark.parametrize("size", STATED_BYTES)
def test_a_report_is_as_long_as_specified(size: int) -> None:
    packings = [ItemPacking.of(SubsetChannel.of(size, Fraction(e))) for e in (1, 2, 4, 6)]
    assert tuple(packing.length for packing in packings) == STATED_BYTES[size]


@given(shape=subsets())
def test_a_report_is_written_as_stated_and_read_back(shape: Shape) -> None:
    size, items = shape
    packing = ItemPacking(size=size, subset_size=len(items))
    packed = packing.pack(table_of(items, packing.size))
    assert packed.tobytes() == by_hand(packing, items)
    assert packed.shape == (1, packing.length)
    counts = packing.counts(packed)
    assert counts is not None
    assert np.flatnonzero(counts).tolist() == list(items)


@given(shape=subsets())
def test_the_shorter_form_is_used(shape: Shape) -> None:
    size, items = shape
    bits = len(f"{size - 1:b}") if size > 1 else 0
    packing = ItemPacking(size=size, subset_size=len(items))
    assert packing.length == min(-(-size // 8), -(-len(items) * bits // 8))


@pytest.mark.parametrize(("size", "epsilon"), [(60, 1), (60, 4), (232, 2), (9, 1), (3000, 4)])
def test_many_reports_are_counted_as_they_were_drawn(size: int, epsilon: int, seed: int) -> None:
    channel = SubsetChannel.of(size, Fraction(epsilon))
    packing = ItemPacking.of(channel)
    for named in choose_subsets(np.arange(500) % size, channel, Randomness.seeded(seed)):
        counts = packing.counts(packing.pack(named))
        assert counts is not None
        assert counts.tolist() == named.sum(axis=0).tolist()


LIST_FORM = ItemPacking(size=100, subset_size=3)
"""Three numbers of seven bits: 21 bits in three bytes, three of which must be zero."""
BITMAP = ItemPacking(size=12, subset_size=5)
"""Twelve bits in two bytes, four of which must be zero."""


def listed(*items: int, fill: int = 0) -> bytes:
    return (((items[0] << 7 | items[1]) << 7 | items[2]) << 3 | fill).to_bytes(3)


def test_the_two_examples_are_what_they_are_said_to_be() -> None:
    assert (LIST_FORM.is_bitmap, LIST_FORM.length) == (False, 3)
    assert (BITMAP.is_bitmap, BITMAP.length) == (True, 2)
    assert LIST_FORM.counts(rows(listed(0, 5, 99))) is not None
    assert BITMAP.counts(rows(b"\xf8\x00")) is not None


BAD: dict[str, tuple[ItemPacking, bytes]] = {
    "a number beyond the list": (LIST_FORM, listed(0, 5, 100)),
    "the largest number of seven bits": (LIST_FORM, listed(0, 5, 127)),
    "a number twice": (LIST_FORM, listed(5, 5, 9)),
    "a number three times": (LIST_FORM, listed(0, 0, 0)),
    "decreasing numbers": (LIST_FORM, listed(9, 5, 7)),
    "the last two swapped": (LIST_FORM, listed(1, 7, 5)),
    "the lowest filling bit": (LIST_FORM, listed(0, 5, 9, fill=1)),
    "the highest filling bit": (LIST_FORM, listed(0, 5, 9, fill=4)),
    "all ones": (LIST_FORM, b"\xff\xff\xff"),
    "all zeros": (LIST_FORM, b"\x00\x00\x00"),
    "one bit too few": (BITMAP, b"\xf0\x00"),
    "one bit too many": (BITMAP, b"\xfc\x00"),
    "no bit": (BITMAP, b"\x00\x00"),
    "every bit": (BITMAP, b"\xff\xf0"),
    "a filling bit in place of an item": (BITMAP, b"\xf0\x08"),
    "a filling bit besides": (BITMAP, b"\xf8\x01"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("at", [0, 1])
def test_what_no_device_writes_is_not_read(case: str, at: int) -> None:
    """Alone, and hidden among good reports."""
    packing, bad = BAD[case]
    good = listed(0, 5, 99) if packing is LIST_FORM else b"\xf8\x00"
    assert packing.counts(rows(bad)) is None
    assert packing.counts(rows(*[good] * at, bad, *[good] * (2 - at))) is None


@given(shape=subsets(most=40), draw=st.binary(max_size=24))
def test_any_bytes_are_the_only_spelling_of_a_subset_or_are_refused(
    shape: Shape, draw: bytes
) -> None:
    size, items = shape
    packing = ItemPacking(size=size, subset_size=len(items))
    report = draw[: packing.length].ljust(packing.length, b"\0")
    counts = packing.counts(rows(report))
    if counts is not None:
        found = tuple(np.flatnonzero(counts).tolist())
        assert len(found) == len(items)
        assert by_hand(packing, found) == report


@given(report=st.binary(max_size=80))
def test_texts_are_base64url_without_padding(report: bytes) -> None:
    text = to_text(report)
    assert text == base64.urlsafe_b64encode(report).decode().rstrip("=")
    packing = ItemPacking(size=8 * len(report) + 8, subset_size=len(report))
    letters = np.frombuffer(text.encode(), dtype=np.uint8).reshape(1, -1)
    read = from_texts(letters, len(report))
    assert read is not None
    assert read.tobytes() == report
    assert len(text) == (4 * len(report) + 2) // 3
    assert packing.text_length == (4 * packing.length + 2) // 3


@pytest.mark.parametrize("text", ["AAA=", "AA+A", "AA/A", "AA A", "AA\nA", "ééé", "AAAB", "AAAC"])
def test_other_letters_and_other_spellings_are_not_read(text: str) -> None:
    """Two bytes are three letters, the last of which ends in two zero bits."""
    letters = np.frombuffer(text.encode()[:4], dtype=np.uint8).reshape(1, -1)
    assert from_texts(letters, 2) is None
    assert from_texts(np.frombuffer(b"AAB", dtype=np.uint8).reshape(1, -1), 2) is None


@given(
    st.integers(1, 70).flatmap(
        lambda size: st.tuples(st.just(size), st.integers(1, max(1, size // 2)))
    ),
    st.data(),
)
def test_one_report_is_read_as_it_is_among_many(
    sizes: tuple[int, int], data: st.DataObject
) -> None:
    packing = ItemPacking(size=sizes[0], subset_size=sizes[1])
    honest = packing.pack(table_of(tuple(range(sizes[1])), packing.size)).tobytes()
    report = data.draw(
        st.just(honest) | st.binary(min_size=packing.length, max_size=packing.length)
    )
    rows = np.frombuffer(report, dtype=np.uint8).reshape(1, packing.length)
    among_many, alone = packing.items(rows), packing.items_of(report)
    assert (None if among_many is None else among_many[0].tolist()) == alone
    assert packing.items_of(honest) == list(range(sizes[1]))


@given(st.text(alphabet="AB_-+/= é", max_size=8), st.integers(0, 5))
def test_one_text_is_read_as_it_is_among_many(text: str, length: int) -> None:
    among_many = rows_of_texts([text], length)
    assert from_text(text, length) == (None if among_many is None else among_many.tobytes())
