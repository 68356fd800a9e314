"""JSON without the freedoms that let two readers understand one body differently."""

import json
import re
from typing import Any, NoReturn

import msgspec

from blender_dp.service.problems import Problem, ProblemError

DEEPEST = 32
"""No document of ours is nested a third as deep."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_NUMBER = 64
LONGEST_EXPLAINED = 1 << 16
"""Bytes of a body whose every value is looked at to say what is wrong with it."""


def read_json(body: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a body; refuse NaN, keys that come twice and half characters."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Problem.BODY_NOT_UTF8.error() from None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=_finite,
        )
    except RecursionError:
        raise Problem.BODY_TOO_DEEP.error() from None
    except ValueError:
        raise Problem.BODY_NOT_JSON.error() from None
    _require_plain(value)
    return value


def why_not_understood(body: bytes) -> ProblemError:
    """Return what is wrong with a body that the fast decoder refused without a reason.

    A long body is only told apart by whether it is UTF-8 and JSON at all, which is quick: looking
    at every value of it would take seconds, and anybody can send one.
    """
    try:
        if len(body) <= LONGEST_EXPLAINED:
            read_json(body)
        else:
            _skim(body)
    except ProblemError as problem:
        return problem
    return Problem.BODY_NOT_UNDERSTOOD.error()


def _skim(body: bytes) -> None:
    try:
        body.decode("utf-8")
        msgspec.json.decode(body, type=msgspec.Raw)
    except UnicodeDecodeError:
        raise Problem.BODY_NOT_UTF8.error() from None
    except RecursionError:
        raise Problem.BODY_TOO_DEEP.error() from None
    except msgspec.MsgspecError:
        raise Problem.BODY_NOT_JSON.error() from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Problem.DUPLICATE_KEY.error()
    return made


def _refuse_constant(name: str) -> NoReturn:  # noqa: ARG001 - never repeated
    raise Problem.NUMBER_NOT_FINITE.error()


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise Problem.BODY_NOT_UNDERSTOOD.error()
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise Problem.NUMBER_NOT_FINITE.error()
    return number


def _require_plain(value: object) -> None:
    """Refuse what is nested too deeply and half characters, in names and in texts."""
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
        if any(_SURROGATE.search(text) for text in texts):
            raise Problem.ODD_UNICODE.error()
        if not inner:
            return
        level = inner
    raise Problem.BODY_TOO_DEEP.error()
