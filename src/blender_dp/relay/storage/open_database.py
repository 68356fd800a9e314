"""Opening of the relay's database at an address."""

from pathlib import Path

from blender_dp.core.errors import MissingExtraError, ParameterError
from blender_dp.relay.storage.database import Database

_POSTGRES = ("postgresql", "postgres")


async def open_database(address: str) -> Database:
    """Open a database and bring its schema up to date.

    Args:
        address: A path, ``sqlite:///PATH`` or ``postgresql://USER@HOST/NAME``.
    """
    scheme, colon, rest = address.partition("://")
    if colon and scheme in _POSTGRES:
        return await _open_postgres(address)
    # An address may hold a password, so the message repeats only its beginning.
    if colon and (scheme != "sqlite" or not rest.startswith("/")):
        rule = "a path, sqlite:///PATH or postgresql://USER@HOST/NAME"
        raise ParameterError("database", rule, f"{scheme}://…")
    from blender_dp.relay.storage.sqlite.database import SqliteDatabase  # noqa: PLC0415 - one is enough

    return SqliteDatabase(Path(rest[1:] if colon else address))


async def _open_postgres(address: str) -> Database:
    try:
        from blender_dp.relay.storage.postgres.database import PostgresDatabase  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("service", "PostgreSQL") from None
    return await PostgresDatabase.open(address)
