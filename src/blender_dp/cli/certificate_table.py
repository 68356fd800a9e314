"""Certificate as a table for a terminal: names are never broken."""

from collections.abc import Iterator, Sequence
from typing import Any

_HEADINGS = ("ε promised", "tight ε", "add/remove ε", "δ promised", "δ spent", "verdict")
_GAP = 2


def certificate_table(document: dict[str, Any], width: int) -> str:
    """Return the accounts of a certificate and their parts, one line each.

    Args:
        document: The certificate.
        width: Width of the terminal; where a line would be wider, its name stands in a line above.
    """
    rows = [("to", _HEADINGS), *_rows(document)]
    widths = [
        max(map(len, column)) + _GAP for column in zip(*(row[1] for row in rows), strict=True)
    ]
    longest = max(len(name) for name, _ in rows)
    room = min(longest, max(width - sum(widths), 0))
    return "\n".join(line for name, numbers in rows for line in _lines(name, numbers, widths, room))


def _lines(name: str, numbers: Sequence[str], widths: Sequence[int], room: int) -> Iterator[str]:
    if len(name) > room:
        yield name
        name = ""
    cells = "".join(cell.rjust(width) for cell, width in zip(numbers, widths, strict=True))
    yield name.ljust(room) + cells


def _rows(document: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for account in document["accounts"]:
        yield account["to"], _numbers(account)
        for part in account["parts"]:
            yield f"  {part['release']}", _numbers(part)


def _numbers(line: dict[str, Any]) -> tuple[str, ...]:
    tight, presence = line["tight_epsilon"], line["add_remove_epsilon"]
    return (
        _format(line["promised"]["epsilon"]),
        "far above" if tight is None else _format(tight),
        "far above" if presence is None else _format(presence),
        _format(line["promised"]["delta"]),
        _format(line["spent"]["delta"]),
        line["verdict"],
    )


def _format(number: str) -> str:
    numerator, _, denominator = number.partition("/")
    return f"{float(numerator) / float(denominator or 1):.5g}"
