"""Schemas go up and down again, on both databases; what is unknown is refused."""

import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from blender_dp.core.errors import ParameterError
from blender_dp.server.databases.migrations import Migration, UnknownSchemaError
from blender_dp.server.databases.sqlite_connection import connect
from blender_dp.service.storage.postgres import database as postgres
from blender_dp.service.storage.sqlite import database as sqlite
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio
Schema = set[tuple[object, ...]]
_SQLITE_SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
_POSTGRES_SCHEMA = """
SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
WHERE table_schema = 'public'
UNION ALL SELECT 'index', indexname, indexdef, '' FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'trigger', tgname, '', '' FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function', proname, '', '' FROM pg_proc
WHERE pronamespace = 'public'::regnamespace
"""


class Database:
    """One empty database, migrated by hand."""

    def __init__(
        self,
        migrate: Callable[[int | None], Awaitable[None]],
        rows: Callable[[str], Awaitable[Schema]],
        schema: str,
        writes: str,
    ) -> None:
        self.migrate = migrate
        self.rows = rows
        self._schema = schema
        self._writes = writes

    async def writes(self) -> Schema:
        """Return what changes with every write to the table of the version."""
        return await self.rows(self._writes)

    async def schema(self) -> Schema:
        return await self.rows(self._schema)


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    if request.param == "sqlite":
        with closing(connect(tmp_path / "a.sqlite")) as connection:
            yield over_sqlite(connection)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    async with asyncpg.create_pool(await server.fresh_database(), min_size=1) as pool:

        async def migrate(target: int | None) -> None:
            await postgres.migrate(pool, target)

        async def rows(statement: str) -> Schema:
            return {tuple(row) for row in await pool.fetch(statement)}

        yield Database(migrate, rows, _POSTGRES_SCHEMA, "SELECT ctid::text FROM schema_version")


def over_sqlite(connection: sqlite3.Connection) -> Database:
    async def migrate(target: int | None) -> None:
        sqlite.migrate(connection, target)

    async def rows(statement: str) -> Schema:
        return set(connection.execute(statement).fetchall())

    return Database(migrate, rows, _SQLITE_SCHEMA, "SELECT total_changes()")


async def test_every_step_can_be_taken_back(database: Database) -> None:
    await database.migrate(0)
    schemas = [await database.schema()]
    for version in range(1, len(sqlite.MIGRATIONS) + 1):
        await database.migrate(version)
        schemas.append(await database.schema())
    assert len({frozenset(schema) for schema in schemas}) == len(schemas)
    for version in reversed(range(len(sqlite.MIGRATIONS))):
        await database.migrate(version)
        assert await database.schema() == schemas[version]
    await database.migrate(None)
    assert await database.schema() == schemas[-1]


async def test_a_schema_that_is_up_to_date_stays_as_it_is(database: Database) -> None:
    await database.migrate(None)
    before = await database.schema(), await database.writes()
    await database.migrate(None)
    assert (await database.schema(), await database.writes()) == before


async def test_a_newer_schema_is_refused_and_left_alone(database: Database) -> None:
    await database.migrate(None)
    newest = len(sqlite.MIGRATIONS)
    await database.rows("UPDATE schema_version SET version = version + 1")
    before = await database.schema()
    with pytest.raises(UnknownSchemaError, match=f"version {newest} or older; it is {newest + 1}"):
        await database.migrate(None)
    assert await database.schema() == before


@pytest.mark.parametrize("target", [-1, 10_000])
async def test_a_version_that_does_not_exist_is_refused(database: Database, target: int) -> None:
    with pytest.raises(ParameterError, match="target must be a schema version from 0 to"):
        await database.migrate(target)


async def test_log_entries_can_be_neither_changed_nor_removed(database: Database) -> None:
    await database.migrate(None)
    await database.rows("INSERT INTO log_entries VALUES ('audit', 0, '{}')")
    for statement in ("UPDATE log_entries SET entry = ''", "DELETE FROM log_entries"):
        with pytest.raises((sqlite3.IntegrityError, asyncpg.RaiseError), match="never change"):
            await database.rows(statement)


def test_both_databases_have_the_same_steps() -> None:
    names = [(step.version, step.name) for step in sqlite.MIGRATIONS]
    assert names == [(step.version, step.name) for step in postgres.MIGRATIONS]


@pytest.mark.parametrize(
    "migrations", [sqlite.MIGRATIONS, postgres.MIGRATIONS], ids=["sqlite", "postgres"]
)
def test_every_column_has_its_comment(migrations: Sequence[Migration]) -> None:
    above = ""
    for line in "\n".join(step.up for step in migrations).splitlines():
        if re.match(r"    [a-z_]+ ", line):
            assert "-- " in line or above.strip().startswith("-- "), line
        above = line
