"""Folding: what people mean is compared, in any script, and folding twice is folding once."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blender_dp.local_search.folding import LAST, fold, word_starts

SAME = {
    "case": ("Google", "gOOGLE"),
    "German": ("Straße", "STRASSE"),
    "accents": ("crème brûlée", "creme brulee"),
    "composed or not": ("é", "e\u0301"),
    "Turkish": ("İstanbul", "istanbul"),
    "Vietnamese": ("Việt Nam", "viet nam"),
    "Danish": ("smørrebrød", "smorrebrod"),
    "Greek": ("ΌΣΟΣ", "όσος"),
    "Hebrew points": ("שָׁלוֹם", "שלום"),
    "full width": ("\uff29\uff22\uff2d", "ibm"),
    "half width": ("\uff76\uff9e", "ガ"),
    "ligatures": ("\ufb01sh", "fish"),
    "punctuation": ("www.new-york.example", "www new york example"),
    "spaces": (" \u3000a\t b\u00a0", "a b"),
    "nothing to see": ("goo\u200bgle\u202e", "google"),
    "emoji styles": ("\u2600\ufe0f", "\u2600"),
}
DIFFERENT = {
    "voiced kana": ("か", "が"),
    "vowels of Hindi": ("हिन्दी", "हनद"),
    "tones of Thai": ("ไม่", "ไม"),
    "programming languages": ("c++", "c"),
    "words": ("a b", "ab"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_what_people_call_the_same_folds_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other) != ""


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_different_words_stay_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text())
@example("\u0345\u0391")
@example("\u212bﬃ")
def test_folding_twice_is_folding_once(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert folded == " ".join(folded.split())
    assert LAST not in folded


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_folded_like_everything_else(text: str) -> None:
    # With a letter beyond ASCII, the long way is taken.
    assert fold(text) == fold(f"{text} 天").removesuffix("天").strip()


@given(st.text())
def test_every_word_of_a_folded_text_begins_somewhere(text: str) -> None:
    folded = fold(text)
    starts = word_starts(folded)
    assert starts == sorted(set(starts))
    assert {0, *(i + 1 for i, c in enumerate(folded) if c == " ")} <= {*starts, 0}
    assert all(folded[start] != " " for start in starts)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("new york", [0, 4]),
        ("天気予報", [0, 1, 2, 3]),
        ("nhk天気 東京", [0, 3, 4, 6, 7]),
        ("서울 날씨", [0, 3]),
        ("", []),
    ],
)
def test_words_begin_where_a_reader_sees_them_begin(text: str, starts: list[int]) -> None:
    assert word_starts(text) == starts
