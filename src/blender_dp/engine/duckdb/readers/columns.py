"""Lookup of the chosen columns among those of a file."""

import re
from collections.abc import Sequence
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers.source import LogColumns

_PURPOSES = ("user", "query", "url", "group")
_BETWEEN_WORDS = re.compile(r"[\s_-]+")


def wanted_columns(columns: LogColumns) -> dict[str, str]:
    """Return the name of each column to read, by its purpose: user, query, url, group."""
    purposes = {purpose: getattr(columns, purpose) for purpose in _PURPOSES}
    return {purpose: name for purpose, name in purposes.items() if name is not None}


def find_columns(
    path: Path | str,
    columns: LogColumns,
    there: Sequence[str],
    *,
    may_be_a_row: bool,
    option: str = "--{}",
) -> dict[str, int]:
    """Return the position of each wanted column, by its purpose.

    Args:
        path: The file, for the message.
        columns: The wanted names; another spelling is taken where no column has exactly the name.
        there: The names in the file.
        may_be_a_row: Whether ``there`` comes from a first line that may hold a user's query instead
            of names. A message must then not repeat it.
        option: How a caller chooses the column of a purpose.

    Raises:
        InputError: A column is missing or appears twice.
    """
    wanted = wanted_columns(columns)
    if may_be_a_row and count_columns(columns, there) < 2:
        names = ", ".join(wanted.values())
        raise InputError(
            path,
            f"the first line must name the columns, but does not have all of {names}; "
            f"if it has other names, choose with {_options(wanted)}",
            where="line 1",
        )
    for purpose, name in wanted.items():
        places = _places_of(name, there)
        if not places:
            listed = ", ".join(there)
            rule = f"there is no column {name}, only {listed}; choose with {option.format(purpose)}"
            raise InputError(path, rule)
        if len(places) > 1:
            raise InputError(path, f"there is more than one column {name}")
    return {purpose: _places_of(name, there)[0] for purpose, name in wanted.items()}


def count_columns(columns: LogColumns, there: Sequence[str]) -> int:
    """Return how many of the wanted names are among these, in any spelling."""
    names = set(wanted_columns(columns).values())
    return sum(bool(_places_of(name, there)) for name in names)


def find_spellings(columns: LogColumns, there: Sequence[str]) -> dict[str, str]:
    """Return the names in a file by their purpose; nothing if all are spelled as wanted."""
    found = {
        purpose: there[place]
        for purpose, name in wanted_columns(columns).items()
        for place in _places_of(name, there)
    }
    return {} if found == wanted_columns(columns) else found


def _places_of(name: str, there: Sequence[str]) -> list[int]:
    """Return where a name is; where it is in another spelling, if it is nowhere."""
    exact = [place for place, other in enumerate(there) if other == name]
    return exact or [place for place, other in enumerate(there) if _plain(other) == _plain(name)]


def _plain(name: str) -> str:
    return _BETWEEN_WORDS.sub("", name).casefold()


def _options(wanted: dict[str, str]) -> str:
    return ", ".join(f"--{purpose}" for purpose in wanted)
