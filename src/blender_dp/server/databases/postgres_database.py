"""Database on a PostgreSQL server."""

from typing import Any

from blender_dp.server.databases import migrations
from blender_dp.server.databases.database import Schema, UnavailableError, Work
from blender_dp.server.databases.postgres_connection import COLLISION, UNREACHABLE, close, connect
from blender_dp.server.databases.postgres_rewriting import is_rewritten
from blender_dp.server.databases.postgres_statements import PostgresStatements
from blender_dp.server.databases.statements import Answer

_TRIES = 5


class PostgresDatabase:
    """A :class:`~blender_dp.server.databases.database.Database` on a server."""

    def __init__(self, pool: Any, schema: Schema) -> None:  # noqa: ANN401 - asyncpg has no types
        self._pool, self._schema = pool, schema

    @classmethod
    async def open(cls, address: str, schema: Schema) -> "PostgresDatabase":
        """Connect and bring the schema up to date."""
        steps = migrations.of_package(f"{schema.package}.postgres")
        pool = await connect(address)
        try:
            async with pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", schema.lock)
                await migrations.migrate(PostgresStatements(connection), steps)
        except BaseException:
            await close(pool)
            raise
        return cls(pool, schema)

    async def read(self, work: Work[Answer]) -> Answer:
        """Run queries on one consistent view of the database."""
        return await self._run(work, isolation="repeatable_read", readonly=True)

    async def write(self, work: Work[Answer]) -> Answer:
        """Do work in a transaction; it is on disk when this returns."""
        return await self._run(work)

    async def _run(self, work: Work[Answer], **how: object) -> Answer:
        for _ in range(_TRIES):
            try:
                async with self._pool.acquire() as connection, connection.transaction(**how):
                    return await work(PostgresStatements(connection))
            except COLLISION:
                continue
            except UNREACHABLE:
                raise UnavailableError from None
        raise UnavailableError

    async def scrub(self) -> bool:
        """Rewrite the tables without deleted rows; return False if one was in use."""
        try:
            return all([await is_rewritten(self._pool, table) for table in self._schema.scrubbed])
        except UNREACHABLE:
            raise UnavailableError from None

    async def close(self) -> None:
        """Finish the work that was begun and close every connection."""
        await close(self._pool)
