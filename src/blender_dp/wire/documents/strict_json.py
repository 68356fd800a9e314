"""Strict JSON parsing: rejects repeated keys, NaN, infinities, half characters and deep nesting.

Any text that two parsers could read differently is refused. Files, answers of a service and the
bodies of requests are all read here.
"""

import json
import re
from enum import StrEnum
from math import isinf
from pathlib import Path
from typing import Any, NoReturn

from blender_dp.core.errors import InputError

DEEPEST = 32
"""Most levels of nesting; documents of this package have less than a third of them."""
_MOST_DIGITS = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonRule(StrEnum):
    """Rule of strict JSON, with the text of its refusal."""

    UTF8 = "must be UTF-8 text"
    SYNTAX = "must be JSON"
    NESTING = "is nested too deeply"
    KEYS = "must have no key twice"
    FINITE = "must have no NaN and no infinite number"
    DIGITS = "has a number that is too long"
    CHARACTERS = "must have no half characters"


class StrictJsonError(ValueError):
    """A text breaks a rule of strict JSON."""

    def __init__(self, rule: JsonRule, line: int | None = None) -> None:
        self.rule, self.line = rule, line
        super().__init__(str(rule))


def parse_json(content: bytes | str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a text, or raise :class:`StrictJsonError`."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_make_object,
            parse_constant=_refuse_constant,
            parse_int=_parse_int,
            parse_float=_parse_float,
        )
    except UnicodeDecodeError:
        raise StrictJsonError(JsonRule.UTF8) from None
    except json.JSONDecodeError as error:
        raise StrictJsonError(JsonRule.SYNTAX, error.lineno) from None
    except RecursionError:
        raise StrictJsonError(JsonRule.NESTING) from None
    _require_plain(value)
    return value


def read_object(source: Path | str, content: bytes | str) -> dict[str, Any]:
    """Return a JSON object.

    Args:
        source: The name in a refusal: a file, or for instance "the head list".
        content: The bytes that were read or received.
    """
    try:
        document = parse_json(content)
    except StrictJsonError as error:
        where = f"line {error.line}" if error.line and isinstance(source, Path) else None
        raise InputError(source, str(error.rule), where=where) from None
    if not isinstance(document, dict):
        raise InputError(source, "must be a JSON object")
    return document


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise StrictJsonError(JsonRule.KEYS)
    return made


def _refuse_constant(_name: str) -> NoReturn:
    raise StrictJsonError(JsonRule.FINITE)


def _parse_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise StrictJsonError(JsonRule.DIGITS)
    return int(digits)


def _parse_float(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise StrictJsonError(JsonRule.FINITE)
    return number


def _require_plain(value: object) -> None:
    """Refuse deep nesting, and half characters in names and texts; level by level."""
    level = [value]
    for _ in range(DEEPEST):
        texts = [item for item in level if isinstance(item, str)]
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                texts += item
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        if _SURROGATE.search("\n".join(texts)):  # one search: many small ones are slow
            raise StrictJsonError(JsonRule.CHARACTERS)
        if not inner:
            return
        level = inner
    raise StrictJsonError(JsonRule.NESTING)
