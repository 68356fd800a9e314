"""Connections to PostgreSQL: a pool is closed within its time, whoever still holds a connection."""

import asyncio

import asyncpg
import pytest

from blender_dp.server.databases import postgres_connection
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio


async def connected_to(address: str) -> int:
    """Return how many connections the database has, without the one that asks."""
    asking = await asyncpg.connect(address)
    try:
        return int(
            await asking.fetchval(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    finally:
        await asking.close()


async def test_a_connection_that_is_never_given_back_does_not_keep_a_pool_open(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = await postgres_server.fresh_database()
    pool = await postgres_connection.connect(address)
    await pool.acquire()
    assert await connected_to(address) == 1
    monkeypatch.setattr(postgres_connection, "_PATIENCE_SECONDS", 0.1)
    async with asyncio.timeout(60):
        await postgres_connection.close(pool)
        while await connected_to(address):
            await asyncio.sleep(0.01)


async def test_work_that_was_begun_is_finished_before_a_pool_closes(
    postgres_server: PostgresServer,
) -> None:
    pool = await postgres_connection.connect(await postgres_server.fresh_database())
    working = asyncio.create_task(pool.fetchval("SELECT 7 FROM pg_sleep(0.2)"))
    await asyncio.sleep(0)
    await postgres_connection.close(pool)
    assert await working == 7
