"""JSON that came over the network, read without mercy: one spelling, no key twice, no NaN."""

import json
from collections.abc import Iterable
from typing import Any, NoReturn

from blender_dp.core.errors import InputError


def read_object(source: str, content: bytes | str) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        source: What it is called in a refusal, such as "the head list".
        content: What was received.
    """
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(source, "must be UTF-8 text") from None
    try:
        document = json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_number)
    except _RefusedError as error:
        raise InputError(source, str(error)) from None
    except (ValueError, RecursionError):
        raise InputError(source, "must be JSON") from None
    if not isinstance(document, dict):
        raise InputError(source, "must be a JSON object")
    return document


class _RefusedError(Exception):
    """A rule that JSON itself does not have."""


def _each_key_once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise _RefusedError("must have no key twice")
        members[name] = value
    return members


def _no_number(_: str) -> NoReturn:
    raise _RefusedError("must have no NaN and no infinite number")
