"""SQL that all readers share: quoting, and the common columns of all logs.

Only this file builds SQL from names and paths that a user chose.
"""

from collections.abc import Collection, Iterable
from pathlib import Path

from blender_dp.core.head_list.head_list import NO_URL

_FLOATS = ("FLOAT", "DOUBLE")
MISSING_USERS = ("nan", "NaN")
"""Texts that programs write in place of a missing number."""


def text_literal(value: str) -> str:
    """Quote a string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Quote a column name."""
    return '"' + name.replace('"', '""') + '"'


def text_of(name: str, kind: str) -> str:
    """Return the expression for a column's value as text; NaN is a missing value."""
    quoted = identifier(name)
    text = f"{quoted}::VARCHAR"
    return f"CASE WHEN NOT isnan({quoted}) THEN {text} END" if kind in _FLOATS else text


def file_literal(path: Path) -> str:
    """Quote a path so that DuckDB opens this file and expands no pattern in its name."""
    # Absolute, because DuckDB gives a meaning to a leading ~ and to some prefixes such as s3:.
    return text_literal("".join(f"[{c}]" if c in "[*?" else c for c in str(path.absolute())))


def file_list(paths: Iterable[Path]) -> str:
    """Quote several paths as an SQL list."""
    return "[" + ", ".join(file_literal(path) for path in paths) + "]"


def unless_blank(value: str, parts: Iterable[str]) -> str:
    """Return the expression for a value that is NULL where a part is missing or only spaces."""
    parts = list(parts)
    if not parts:
        return value
    # A text that sorts at '!' or later does not begin with a space. This decides almost every row
    # without a trim: 6 instead of 9 CPU seconds for 20 million rows. Of two conditions joined by
    # OR, DuckDB would compute both.
    is_clear = " AND ".join(f"{part} >= '!'" for part in parts)
    is_text = " AND ".join(f"trim({part}) <> ''" for part in parts)
    return f"CASE WHEN {is_clear} THEN {value} WHEN {is_text} THEN {value} END"


def log_rows(
    raw: str,
    *,
    row: str,
    has_group: bool = False,
    has_url: bool = True,
    never_blank: Collection[str] = (),
) -> str:
    """Return the SELECT of a :class:`LogSource` over a query giving user, query, url and group.

    Args:
        raw: A SELECT whose columns are all VARCHAR, NULL or blank where the log has nothing.
        row: The expression that numbers its rows.
        has_group: Whether ``raw`` has a ``group``.
        has_url: Whether ``raw`` has a ``url``; otherwise all records have the same one.
        never_blank: Columns that are known to be filled in every row.
    """
    label = """, CASE "group" WHEN 'opt-in' THEN true WHEN 'client' THEN false END AS opt_in"""
    opt_in = label if has_group else ""
    user = identifier("user")  # a word of SQL's own
    parts = ("query", "url") if has_url else ("query",)
    record = [part for part in parts if part not in never_blank]
    url = "url" if has_url else text_literal(NO_URL)
    who = unless_blank(user, [] if "user" in never_blank else [user])
    # Not one user: everybody without an id.
    listed = ", ".join(text_literal(text) for text in MISSING_USERS)
    who = f"CASE WHEN {user} NOT IN ({listed}) THEN {who} END"
    # Built from constants and from literals and identifiers quoted above.
    return (
        f'SELECT {row} AS "row", {who} AS {user}, '  # noqa: S608
        f"(hash({user}) >> 1)::BIGINT AS user_key, "
        f"{unless_blank('query', record)} AS query, "
        f"{unless_blank(url, record)} AS url{opt_in} "
        f"FROM ({raw})"
    )
