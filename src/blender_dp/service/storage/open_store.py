"""Opening of the store at an address, with a check that the keys belong to it."""

import asyncio

from blender_dp.core.errors import BlenderError, MissingExtraError
from blender_dp.server.databases.addresses import sqlite_file
from blender_dp.server.databases.statements import Checkpoint, no_checkpoint
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.storage.database_store import DatabaseStore


async def open_store(database: str, *, reach: Checkpoint = no_checkpoint) -> DatabaseStore:
    """Open a store and bring its schema up to date.

    Args:
        database: ``sqlite:///PATH`` or a path, or ``postgresql://USER@HOST/NAME``.
        reach: Called with the name of every checkpoint of a write; for tests that kill the process.
    """
    file = sqlite_file(database)
    if file is None:
        return await _open_postgres(database, reach)
    from blender_dp.service.storage.sqlite.database import SqliteDatabase  # noqa: PLC0415 - one is enough

    return DatabaseStore(SqliteDatabase(file, reach=reach))


async def _open_postgres(address: str, reach: Checkpoint) -> DatabaseStore:
    try:
        from blender_dp.service.storage.postgres.database import PostgresDatabase  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("service", "PostgreSQL") from None
    return DatabaseStore(await PostgresDatabase.open(address, reach=reach))


class WrongKeysError(BlenderError):
    """The directory of keys belongs to another database."""

    def __init__(self, keys: KeyVault) -> None:
        super().__init__(
            f"{keys.directory}: must be the directory of keys that this database was used with "
            "(--keys); if that is lost, put the backup of its signing.key there"
        )


async def require_own_keys(store: DatabaseStore, keys: KeyVault) -> None:
    """Refuse keys of another database; a database without keys is bound to these.

    Nothing is written to a directory that is refused. Without this check wrong keys would be
    noticed too late: repeated reports would not be recognised, contributions could not be
    decrypted, and clients would refuse the signature of the next list.
    """
    bound = await store.key_fingerprint()
    if bound is not None and not await asyncio.to_thread(keys.has_signing_key):
        raise WrongKeysError(keys)
    given = await asyncio.to_thread(keys.fingerprint)
    if given != (bound or await store.bind_keys(given)):
        raise WrongKeysError(keys)
