"""A service that is killed while it issues report tokens gives each person one, and only one.

On PostgreSQL two services issue for the same enrolments, and the database server is killed too.
"""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from random import Random

import pytest
from end_to_end.kills.askers import Askers, asking
from end_to_end.kills.lives import KILLS, PATIENCE, kill_in_turn, live_and_die
from end_to_end.kills.mortal_service import MortalService, mortal_service
from service.running import running
from service.token_holders import token_campaign

from blender_dp.service.http.access import new_token, token_digest
from postgres_server import PostgresServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
DEATHS = max(8, KILLS // 2)
PEOPLE = 1_000 + 150 * DEATHS
"""More than can ask."""
POINTS = ("before-begin", "after-token", "before-commit", "after-commit")


async def issuing(directory: Path, random: Random, database: str = "") -> Askers:
    """Make a campaign whose reports need tokens, and enrol people."""
    async with running(directory, database=database or None) as service:
        campaign = await token_campaign(service)
        people = [new_token(random.randbytes) for _ in range(PEOPLE)]
        digests = [token_digest(person) for person in people]
        await service.dependencies.store.add_enrolments(campaign.published.uuid, digests)
    return Askers(rules=campaign.rules, random=random, people=iter(people))


async def finished(askers: Askers, done: Awaitable[object]) -> None:
    """Let everybody who began get their answers."""
    askers.is_over = True
    await done
    assert next(askers.people, None) is not None, "all people have asked"


def assert_enough(askers: Askers) -> None:
    """Fail if the trial was too easy."""
    print(f"{askers.given:,} people, {askers.broken:,} requests broken")  # noqa: T201 - for whoever asks
    assert askers.given > DEATHS
    assert askers.broken >= DEATHS // 2


async def test_each_person_gets_one_token_on_sqlite(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    askers = await issuing(tmp_path, random)
    async with (
        asyncio.timeout(PATIENCE),
        mortal_service(tmp_path) as service,
        asking(askers, [service.url]) as done,
    ):
        for number in range(DEATHS):
            await live_and_die(service, askers, number, random, POINTS)
        await service.begin()
        await finished(askers, done)
        await service.stop()
    assert_enough(askers)


async def test_each_person_gets_one_token_of_two_services_on_postgresql(
    postgres_server: PostgresServer, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    database = await postgres_server.fresh_database()
    askers = await issuing(tmp_path, random, database)
    async with (
        asyncio.timeout(PATIENCE),
        mortal_service(tmp_path, database) as one,
        mortal_service(tmp_path, database) as other,
        asking(askers, [one.url, other.url]) as done,
    ):
        services = [one, other]
        await kill_in_turn(postgres_server, services, askers, random, points=POINTS, kills=DEATHS)
        await finished(askers, done)
        await one.stop()
        await other.stop()
    assert_enough(askers)


async def caught(directory: Path, seed: int, flaw: str) -> None:
    """Kill a flawed service until somebody notices."""
    askers = await issuing(directory, Random(seed))
    async with (
        asyncio.timeout(PATIENCE),
        mortal_service(directory, flaw=flaw) as service,
        asking(askers, [service.url]) as done,
    ):
        dying = asyncio.create_task(die_often(service, askers))
        done.add_done_callback(lambda _done: dying.cancel())  # somebody noticed
        await asyncio.gather(dying, return_exceptions=True)
        await done


async def die_often(service: MortalService, askers: Askers) -> None:
    for number in range(0, 12, 2):
        await live_and_die(service, askers, number, askers.random)
    await service.begin()
    askers.is_over = True


async def test_a_service_that_answers_before_it_commits_is_caught(
    tmp_path: Path, seed: int
) -> None:
    with pytest.raises(AssertionError, match=r"another token, or lost|got 2 tokens"):
        await caught(tmp_path, seed, "early")


async def test_a_service_that_answers_a_request_only_once_is_caught(
    tmp_path: Path, seed: int
) -> None:
    with pytest.raises(AssertionError, match=r"lost theirs|got 0 tokens"):
        await caught(tmp_path, seed, "once")
