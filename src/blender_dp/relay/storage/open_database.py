"""Opening of the relay's database at an address."""

from blender_dp.core.errors import MissingExtraError
from blender_dp.relay.storage.database import Database
from blender_dp.server.databases.addresses import sqlite_file


async def open_database(address: str) -> Database:
    """Open a database and bring its schema up to date.

    Args:
        address: A path, ``sqlite:///PATH`` or ``postgresql://USER@HOST/NAME``.
    """
    file = sqlite_file(address)
    if file is None:
        return await _open_postgres(address)
    from blender_dp.relay.storage.sqlite.database import SqliteDatabase  # noqa: PLC0415 - one is enough

    return SqliteDatabase(file)


async def _open_postgres(address: str) -> Database:
    try:
        from blender_dp.relay.storage.postgres.database import PostgresDatabase  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("service", "PostgreSQL") from None
    return await PostgresDatabase.open(address)
