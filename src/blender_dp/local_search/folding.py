"""Folding of texts for comparison: removes case, accents, punctuation and width, in any script.

Folded texts are words with one space between them. Two texts that a person would call the same
fold to the same string, and folding it again changes nothing.
"""

import re
import unicodedata

LAST = "\U0010ffff"
"""Code point above all characters of folded texts, so that each of them has a next one."""
_SINGLE = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "\u0131": "i"}
_LETTERS = str.maketrans({**_SINGLE, "æ": "ae", "œ": "oe", "þ": "th"})
"""Latin letters without a decomposition, and the letters that people type for them."""
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts written without spaces: Thai, Lao, Burmese, Khmer, kana, Han."""
_WORDS = re.compile(f"{_NO_SPACES.pattern}|(?:(?!{_NO_SPACES.pattern})[^ ])+")
_ASCII_WORDS = re.compile("[^ ]+")


def fold(text: str) -> str:
    """Return the folded ``text``.

    >>> fold("  Crème-Brûlée "), fold("ニュース"), fold("www.Google.com")
    ('creme brulee', 'ニュース', 'www google com')
    """
    if text.isascii():
        return " ".join(text.translate(_ASCII).split())
    folded = _slowly(text)
    # Rarely, a letter that lost its accent can be folded once more.
    while (again := _slowly(folded)) != folded:
        folded = again
    return folded


def word_starts(folded: str) -> list[int]:
    """Return the positions where words begin; without spaces, every letter may begin one.

    >>> word_starts("new york"), word_starts("天気予報")
    ([0, 4], [0, 1, 2, 3])
    """
    words = _ASCII_WORDS if folded.isascii() else _WORDS
    return [found.start() for found in words.finditer(folded)]


def _slowly(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
    kept = "".join(_comparable(c) for c in unicodedata.normalize("NFD", composed))
    return " ".join(unicodedata.normalize("NFKC", kept).split())


def _comparable(char: str) -> str:
    category = unicodedata.category(char)
    if category in ("Cc", "Zs", "Zl", "Zp") or category.startswith("P"):
        return " "
    if category in ("Cf", "Cs") or "\ufe00" <= char <= "\ufe0f" or char == LAST:
        return ""
    return "" if _is_accent(char) else char


def _is_accent(char: str) -> bool:
    """Tell whether a mark is an accent or an optional point, and not an essential mark.

    Classes from 200 are Latin, Greek and Cyrillic accents, 10 to 36 the vowel points of Hebrew
    and Arabic. Nukta, kana voicing and virama (7 to 9), Thai and Lao tones (103 to 122) and the
    vowel signs of India (0) are essential: without them it is another word.
    """
    combining = unicodedata.combining(char)
    return combining >= 200 or 10 <= combining <= 36


_ASCII = {number: _comparable(chr(number).lower()) for number in range(128)}
"""Folded ASCII characters, by code: most typed texts need nothing else."""
