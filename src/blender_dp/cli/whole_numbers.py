"""Whole numbers as options: 1e9 is accepted; 1.5 is refused, not rounded."""

import re
from collections.abc import Sequence
from typing import Any

from cyclopts import CoercionError, Token, convert

_WHOLE = re.compile(r"[+-]?\d{1,1000}")
_WITH_EXPONENT = re.compile(r"(\d{1,20})(?:\.(\d{1,20}))?[eE]\+?(\d{1,2})")


def strictly(type_: Any, tokens: Sequence[Token]) -> Any:  # noqa: ANN401 - any option's type
    """Convert an option's texts as usual, but whole numbers strictly."""
    if type_ in (int, int | None) and (written := _written_out(tokens[0].value)) is not None:
        tokens = [tokens[0].evolve(value=written)]
    if type_ in (int, int | None) and not _WHOLE.fullmatch(tokens[0].value):
        raise CoercionError(
            msg=f"{tokens[0].keyword} must be a whole number; got {tokens[0].value!r}"
        )
    return convert(type_, tokens)


def _written_out(text: str) -> str | None:
    """Return a whole number such as 1e9 or 1.5e6 in digits; None for other texts."""
    found = _WITH_EXPONENT.fullmatch(text)
    if found is None:
        return None
    digits, after_point, exponent = found[1], (found[2] or "").rstrip("0"), int(found[3])
    return None if len(after_point) > exponent else digits + after_point.ljust(exponent, "0")
