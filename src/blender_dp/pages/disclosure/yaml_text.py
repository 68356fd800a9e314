"""YAML as the registry wants it: texts of several lines as they are, all other texts quoted."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_INDENT = "  "


def yaml_text(document: Mapping[str, Any]) -> str:
    r"""Return a document of mappings, lists, texts and numbers as YAML.

    >>> yaml_text({"name": "a: b", "delta": 1e-05, "lines": "one\ntwo"})
    'name: "a: b"\ndelta: 1.0e-05\nlines: |\n  one\n  two\n'
    """
    return "".join(f"{line}\n" for line in _mapping(document, ""))


def _mapping(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in values.items():
        yield from _value(f"{indent}{name}:", value, indent + _INDENT)


def _value(start: str, value: object, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield start
        yield from _mapping(value, indent)
    elif isinstance(value, str):
        yield from _text(start, value, indent)
    elif isinstance(value, Sequence):
        yield start
        for one in value:
            yield from _value(f"{indent}-", one, indent + _INDENT)
    else:
        yield f"{start} {_number(value)}"


def _text(start: str, text: str, indent: str) -> Iterator[str]:
    lines = text.split("\n")
    # A block begins where its first line does, so that line must be neither indented nor empty.
    is_block = len(lines) > 1 and lines[0][:1].strip() and lines[-1]
    if not is_block:
        yield f"{start} {json.dumps(text, ensure_ascii=False)}"
        return
    yield f"{start} |"
    yield from (f"{indent}{line}" if line else "" for line in lines)


def _number(value: object) -> str:
    """Return a number; YAML 1.1 reads one with an exponent but without a point as a text."""
    mantissa, found, exponent = repr(value).partition("e")
    return mantissa if not found else f"{mantissa}{'' if '.' in mantissa else '.0'}e{exponent}"
