"""A service on SQLite that is killed again and again loses nothing and counts nothing twice.

Other processes open, use and close its database all the time.
"""

import asyncio
from pathlib import Path
from random import Random

import pytest
from end_to_end.kills.books import Books
from end_to_end.kills.bystanders import ON_SQLITE, bystanders
from end_to_end.kills.lives import (
    ACKNOWLEDGED,
    KILLS,
    PATIENCE,
    assert_books_agree,
    assert_enough,
    finished,
    live_and_die,
)
from end_to_end.kills.loaders import Load, loading
from end_to_end.kills.mortal_service import mortal_service
from end_to_end.kills.sqlite_ids import stored_ids
from service.running import Published, running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def collecting(directory: Path) -> Published:
    async with running(directory) as service:
        return await service.published()


async def test_nothing_is_lost_and_nothing_counted_twice(tmp_path: Path, seed: int) -> None:
    campaign = await collecting(tmp_path)
    load = Load(Books(campaign.head_list), campaign.campaign)
    random = Random(seed)
    async with (
        asyncio.timeout(PATIENCE),
        mortal_service(tmp_path) as service,
        bystanders(tmp_path, kinds=ON_SQLITE),
        loading(load, [service.url]) as done,
    ):
        for number in range(KILLS):
            await live_and_die(service, load, number, random)
        await finished(service, load, done, goal=ACKNOWLEDGED)
    assert_enough(load)
    file = tmp_path / "service.sqlite"
    await assert_books_agree(load.books, campaign, str(file), stored_ids(file))


async def test_a_store_that_acknowledges_before_it_commits_is_caught(
    tmp_path: Path, seed: int
) -> None:
    """The books have teeth: a few deaths before a commit are enough."""
    campaign = await collecting(tmp_path)
    load = Load(Books(campaign.head_list), campaign.campaign)
    random = Random(seed)
    async with (
        asyncio.timeout(PATIENCE),
        mortal_service(tmp_path, flaw="early") as service,
        loading(load, [service.url]) as done,
    ):
        for _ in range(3):
            await service.begin(f"before-commit {random.randint(10, 20)}")
            await service.end()
        await finished(service, load, done, goal=0)
    file = tmp_path / "service.sqlite"
    with pytest.raises(AssertionError, match="acknowledged reports are lost"):
        await assert_books_agree(load.books, campaign, str(file), stored_ids(file))
