"""Two services on PostgreSQL and the server itself are killed often: nothing is lost.

Other processes open, use and close the database all the time, as far as the server lives.
"""

import asyncio
from pathlib import Path
from random import Random

import asyncpg
import pytest
from end_to_end.kills.books import Books
from end_to_end.kills.bystanders import ON_POSTGRES, bystanders
from end_to_end.kills.lives import (
    ACKNOWLEDGED,
    PATIENCE,
    assert_books_agree,
    assert_enough,
    kill_in_turn,
)
from end_to_end.kills.loaders import Load, loading
from end_to_end.kills.mortal_service import mortal_service
from service.running import running

from postgres_server import PostgresServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def stored_ids(database: str) -> list[bytes]:
    connection = await asyncpg.connect(database)
    try:
        return [row["id"] for row in await connection.fetch("SELECT id FROM report_ids")]
    finally:
        await connection.close()


async def test_nothing_is_lost_and_nothing_counted_twice(
    postgres_server: PostgresServer, tmp_path: Path, seed: int
) -> None:
    database = await postgres_server.fresh_database()
    async with running(tmp_path, database=database) as service:
        campaign = await service.published()
    load = Load(Books(campaign.head_list), campaign.campaign)
    async with (
        asyncio.timeout(PATIENCE),
        mortal_service(tmp_path, database) as one,
        mortal_service(tmp_path, database) as other,
        bystanders(tmp_path, database, kinds=ON_POSTGRES),
        loading(load, [one.url, other.url]) as done,
    ):
        await kill_in_turn(postgres_server, [one, other], load, Random(seed))
        load.goal = ACKNOWLEDGED
        await done
        await one.stop()
        await other.stop()
    assert_enough(load)
    assert load.refused, "the server died, but nobody was told to come again"
    await assert_books_agree(load.books, campaign, database, await stored_ids(database))
