"""Lookup of the chosen columns among those of a file."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers.source import LogColumns


def wanted_columns(columns: LogColumns) -> dict[str, str]:
    """Return the name of each column to read, by its purpose: user, query, url, group."""
    purposes = {field.name: getattr(columns, field.name) for field in fields(columns)}
    return {purpose: name for purpose, name in purposes.items() if name is not None}


def find_columns(
    path: Path | str, columns: LogColumns, there: Sequence[str], *, may_be_a_row: bool
) -> dict[str, int]:
    """Return the position of each wanted column, by its purpose.

    Args:
        path: The file, for the message.
        columns: The wanted names, spelled exactly as in the file.
        there: The names in the file.
        may_be_a_row: Whether ``there`` comes from a first line that may hold a user's query instead
            of names. A message must then not repeat it.

    Raises:
        InputError: A column is missing or appears twice.
    """
    wanted = wanted_columns(columns)
    if may_be_a_row and len(set(wanted.values()) & set(there)) < 2:
        names = ", ".join(wanted.values())
        raise InputError(
            path,
            f"the first line must name the columns, but does not have all of {names}; "
            f"if it has other names, choose with {_options(wanted)}",
            where="line 1",
        )
    for purpose, name in wanted.items():
        if name not in there:
            listed = ", ".join(there)
            rule = f"there is no column {name}, only {listed}; choose with --{purpose}"
            raise InputError(path, rule)
        if there.count(name) > 1:
            raise InputError(path, f"there is more than one column {name}")
    return {purpose: there.index(name) for purpose, name in wanted.items()}


def _options(wanted: dict[str, str]) -> str:
    return ", ".join(f"--{purpose}" for purpose in wanted)
