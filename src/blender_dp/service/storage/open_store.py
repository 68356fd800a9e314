"""The store that an address names."""

from pathlib import Path

from blender_dp.core.errors import MissingExtraError, ParameterError
from blender_dp.service.storage.database import Checkpoint, no_checkpoint
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import CampaignStore

_POSTGRES = ("postgresql", "postgres")


async def open_store(database: str, *, reach: Checkpoint = no_checkpoint) -> CampaignStore:
    """Open a store and bring its schema up to date.

    Args:
        database: ``sqlite:///PATH`` or a path, or ``postgresql://USER@HOST/NAME``.
        reach: Called with the name of every labelled point of a write; for kill tests.
    """
    scheme, colon, rest = database.partition("://")
    if colon and scheme in _POSTGRES:
        return await _open_postgres(database, reach)
    # An address may hold a password, so no more than its beginning is repeated.
    if colon and (scheme != "sqlite" or not rest.startswith("/")):
        rule = "a path, sqlite:///PATH or postgresql://USER@HOST/NAME"
        raise ParameterError("database", rule, f"{scheme}://…")
    from blender_dp.service.storage.sqlite.database import SqliteDatabase  # noqa: PLC0415 - one is enough

    path = Path(rest[1:] if colon else database)
    return DatabaseStore(SqliteDatabase(path, reach=reach))


async def _open_postgres(address: str, reach: Checkpoint) -> CampaignStore:
    try:
        from blender_dp.service.storage.postgres.database import PostgresDatabase  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("service", "PostgreSQL") from None
    return DatabaseStore(await PostgresDatabase.open(address, reach=reach))
