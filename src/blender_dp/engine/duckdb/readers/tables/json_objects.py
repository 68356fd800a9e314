"""JSON: objects on lines of their own, or in one array; keys are the names of the columns."""

import json
from collections.abc import Sequence
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers.files import compression_of, text_lines
from blender_dp.engine.duckdb.readers.rows import at_line
from blender_dp.engine.duckdb.readers.sql import file_literal, text_literal

_RULE = "every line must be a JSON object"
_BLANKS = b" \t\r\n"
_MARK = b"\xef\xbb\xbf"


def begins_as_json(head: bytes) -> bool:
    """Tell whether a text begins as an object or as an array of objects."""
    start = head.removeprefix(_MARK).lstrip(_BLANKS)
    return start.startswith(b"{") or (
        start.startswith(b"[") and start[1:].lstrip(_BLANKS).startswith(b"{")
    )


def sampling(path: Path) -> str:
    """Return the call that finds the keys and types of a file."""
    return f"read_json({file_literal(path)}, {_options(path)})"


def reading(path: Path, names: Sequence[str]) -> str:
    """Return the call that reads the values of these keys as texts."""
    kinds = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in dict.fromkeys(names))
    return f"read_json({file_literal(path)}, {_options(path)}, columns={{{kinds}}})"


def check_file(path: Path) -> None:
    """Raise at the first line that is not an object, or if an array is not valid.

    Raises:
        InputError: With the file, and the line in a file that has an object per line.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if number == 1 and line.lstrip("\ufeff \t").startswith("["):
            raise InputError(path, "it is not one valid JSON array of objects")
        if line.strip() and not _is_object(line):
            raise at_line(path, number, _RULE)


def _options(path: Path) -> str:
    packing = compression_of(path).sql_name
    return f"format='auto', records=true, compression='{packing}', hive_partitioning=false"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line.encode()), dict)
    except ValueError:
        return False
