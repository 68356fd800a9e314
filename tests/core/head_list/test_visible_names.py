"""Names as people may see them."""

import pytest

from blender_dp.core.head_list.visible_names import visible

REPLACED = "\ufffd"


@pytest.mark.parametrize(
    "sign",
    [
        *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",  # direction
        *"\x00\t\n\x1b\x7f\x9b\u00ad\u200b\u2028\u2029\u2060\ufeff\ud800\U000e0041",  # invisible
    ],
)
def test_a_sign_that_is_invisible_or_turns_a_text_is_replaced(sign: str) -> None:
    assert visible(f"weather{sign}gnp.exe") == f"weather{REPLACED}gnp.exe"


@pytest.mark.parametrize(
    "text",
    [
        "weather",
        "שלום עולם",
        "مرحبا",
        "\u0645\u06cc\u200c\u062e",
        "天気\u3000予報",
        "👩\u200d🚀",
        "é",
        "",
        "a b",
    ],
)
def test_words_of_any_script_stay_as_they_are(text: str) -> None:
    assert visible(text) == text
