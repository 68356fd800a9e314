"""Names as shown to people: no character that is invisible or changes the direction of text."""

import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of controls, format signs, lone surrogates and separators of lines."""
JOINERS = frozenset("\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")
"""Format signs that Persian words and many emoji need; they turn nothing."""


def visible(text: str) -> str:
    r"""Replace each invisible sign, such as one that lets ``gnp.exe`` read as ``exe.png``.

    The pages do the same in ``pages/assets/shared/visible.js``.

    >>> visible("weather\u202egnp.exe")
    'weather\ufffdgnp.exe'
    """
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_invisible(c) else c for c in text)


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE and character not in JOINERS
