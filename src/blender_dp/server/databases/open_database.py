"""Opening of a small server's database at an address."""

from blender_dp.core.errors import MissingExtraError
from blender_dp.server.databases.addresses import sqlite_file
from blender_dp.server.databases.database import Database, Schema


async def open_database(address: str, schema: Schema) -> Database:
    """Open a database and bring its schema up to date.

    Args:
        address: A path, ``sqlite:///PATH`` or ``postgresql://USER@HOST/NAME``.
        schema: The tables of this kind of server.
    """
    file = sqlite_file(address)
    if file is None:
        return await _open_postgres(address, schema)
    from blender_dp.server.databases.sqlite_database import SqliteDatabase  # noqa: PLC0415 - one is enough

    return SqliteDatabase(file, schema)


async def _open_postgres(address: str, schema: Schema) -> Database:
    try:
        from blender_dp.server.databases.postgres_database import PostgresDatabase  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("service", "PostgreSQL") from None
    return await PostgresDatabase.open(address, schema)
