"""Amounts of memory as people write them."""

import re

from blender_dp.core.errors import ParameterError

_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
_UNITS |= {f"{unit}I": 1024**power for power, unit in enumerate("KMGT", start=1)}


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as 500MB, 2GiB or 1.5G.

    >>> parse_bytes("1.5GB"), parse_bytes("2 GiB")
    (1500000000, 2147483648)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", text.upper())
    if not found or found[2] not in _UNITS:
        raise ParameterError("memory_limit", "a size such as 500MB or 2GiB", text)
    return int(float(found[1]) * _UNITS[found[2]])


def show_bytes(size: int) -> str:
    """Return a size as a person reads it.

    >>> show_bytes(12_600_000_000)
    '12.6 GB'
    """
    for unit, power in (("GB", 1000**3), ("MB", 1000**2), ("kB", 1000)):
        if size >= power:
            return f"{size / power:.1f} {unit}"
    return f"{size} B"
