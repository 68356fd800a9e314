"""Addresses of databases: a file of SQLite, or a PostgreSQL server."""

from pathlib import Path

from blender_dp.core.errors import ParameterError

_POSTGRES = ("postgresql", "postgres")


def sqlite_file(address: str) -> Path | None:
    """Return the file of a SQLite database, None for a PostgreSQL server, or refuse the address.

    Args:
        address: A path, ``sqlite:///PATH`` or ``postgresql://USER@HOST/NAME``.
    """
    scheme, colon, rest = address.partition("://")
    if colon and scheme in _POSTGRES:
        return None
    # An address may hold a password, so the message repeats only its beginning.
    if colon and (scheme != "sqlite" or not rest.startswith("/")):
        rule = "a path, sqlite:///PATH or postgresql://USER@HOST/NAME"
        raise ParameterError("database", rule, f"{scheme}://…")
    return Path(rest[1:] if colon else address)
