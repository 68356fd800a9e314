"""How lives of a service end, and what its store must hold when all is over."""

import asyncio
import os
from collections.abc import Awaitable, Iterable, Sequence
from itertools import cycle
from random import Random
from typing import Protocol

from end_to_end.kills.books import Books
from end_to_end.kills.loaders import Load
from end_to_end.kills.mortal_service import MortalService
from service.running import Published

from blender_dp.service.storage.open_store import open_store
from campaign_stores import POINTS
from postgres_server import PostgresServer

KILLS = int(os.environ.get("BLENDER_KILLS", "16"))
ACKNOWLEDGED = 500 * KILLS
PATIENCE = 300 + 12.0 * KILLS
"""Seconds until a test that hangs is given up."""
_LATEST = 0.15
"""Seconds from an acknowledgement to a death that comes at any moment, at most."""


class Busy(Protocol):
    """Clients at work."""

    @property
    def progress(self) -> asyncio.Event:
        """Set whenever one of them got what it wanted."""
        ...


async def any_moment(load: Busy, random: Random) -> None:
    """Wait until there is an acknowledgement, and a little longer."""
    load.progress.clear()
    await load.progress.wait()
    await asyncio.sleep(random.uniform(0, _LATEST))


def death_at_a_point(number: int, random: Random, points: Sequence[str] = POINTS) -> str:
    """Return how a life ends at one of the labelled points, each in its turn."""
    return f"{points[number % len(points)]} {random.randint(1, 8)}"


async def live_and_die(
    service: MortalService,
    load: Busy,
    number: int,
    random: Random,
    points: Sequence[str] = POINTS,
) -> None:
    """Live once: every second life ends at the next labelled point, the others at any moment."""
    if number % 2:
        await service.begin(death_at_a_point(number // 2, random, points))
        await service.end()
    else:
        await service.begin()
        await any_moment(load, random)
        await service.kill()


async def kill_in_turn(
    server: PostgresServer,
    services: Sequence[MortalService],
    load: Busy,
    random: Random,
    *,
    points: Sequence[str] = POINTS,
    kills: int = KILLS,
) -> None:
    """Kill one service twice while the other lives, then the other; then the server under both."""
    for service in services:
        await service.begin()
        await service.answers()
    for number, service in zip(range(kills * 2 // 5), cycle(services), strict=False):
        await any_moment(load, random)
        await service.kill()
        await service.begin(death_at_a_point(number, random, points))
        await service.end()
        await service.begin()
        await service.answers()
        if number % 2:
            await any_moment(load, random)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)


async def finished(
    service: MortalService, load: Load, done: Awaitable[object], *, goal: int
) -> None:
    """Live once more, in peace, until enough is acknowledged and every loader has its answer."""
    load.goal = goal
    await service.begin()
    await done
    await service.stop()


async def assert_books_agree(
    books: Books, campaign: Published, database: str, stored: Iterable[bytes]
) -> None:
    """Fail unless the database holds exactly what the books say."""
    store = await open_store(database)
    counts = await store.report_counts(campaign.uuid)
    await store.close()
    books.assert_agree(stored, counts)


def assert_enough(load: Load) -> None:
    """Fail if the trial was too easy."""
    assert len(load.books.acknowledged) >= ACKNOWLEDGED
    assert load.broken >= KILLS
    assert load.given_up
