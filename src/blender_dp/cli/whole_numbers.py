"""Whole numbers as people mean them: 1.5 is none, and is not rounded to one."""

import re
from collections.abc import Sequence
from typing import Any

from cyclopts import CoercionError, Token, convert

_WHOLE = re.compile(r"[+-]?\d{1,1000}")


def strictly(type_: Any, tokens: Sequence[Token]) -> Any:  # noqa: ANN401 - any option's type
    """Convert an option's words as usual, but take whole numbers at their word."""
    if type_ in (int, int | None) and not _WHOLE.fullmatch(tokens[0].value):
        raise CoercionError(
            msg=f"{tokens[0].keyword} must be a whole number; got {tokens[0].value!r}"
        )
    return convert(type_, tokens)
