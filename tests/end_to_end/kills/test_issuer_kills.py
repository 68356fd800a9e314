"""An issuer that is killed at any moment gives each person one token per campaign, and only one.

Several campaigns, one after the other, each with the next key: the issuer dies while it binds the
key to the campaign, while it issues, and while it destroys the keys of the campaign before.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from uuid import UUID

import httpx
import pytest
from end_to_end.kills.askers import Askers, asking
from end_to_end.kills.lives import KILLS, PATIENCE, any_moment
from end_to_end.kills.mortal_service import MortalService, mortal
from end_to_end.kills.stand_in_server import StandInApp, listening
from issuer.running import StandInCollector

from blender_dp.wire.tokens.report_token import TokenRules
from blender_dp.wire.tokens.token_key import TokenKey, read_token_key
from postgres_server import PostgresServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
DEATHS = 4
"""Of each campaign."""
CAMPAIGNS = max(2, KILLS // 2 // DEATHS)


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest) -> str:
    """Return the address of an empty database; nothing for SQLite beside the keys."""
    if request.param == "sqlite":
        return ""
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return await server.fresh_database()


class Organisation:
    """A collector, and a hook that takes every credential for a name, at one address."""

    def __init__(self) -> None:
        self.collector = StandInCollector()

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/whoami":
            return httpx.Response(200, json={"subject": request.headers["authorization"]})
        return self.collector(request)


async def next_key(url: str) -> TokenKey:
    """Return the key for the next campaign; the issuer may have died before it drew it."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        while True:
            with suppress(httpx.TransportError):
                key = read_token_key((await http.get("/v1/key")).json()["public_key"])
                assert key is not None
                return key


async def play(directory: Path, database: str, seed: int, *flaws: str) -> Askers:
    """Kill an issuer in several campaigns; return the people of the last one."""
    organisation, random = Organisation(), Random(seed)
    people: Iterator[str] = (f"person-{number}" for number in range(10**9))
    async with (
        asyncio.timeout(PATIENCE),
        listening(StandInApp(organisation.answer)) as address,
        mortal("mortal_issuer.py", directory, database, address, *flaws) as issuer,
    ):
        await issuer.begin()
        for number in range(CAMPAIGNS):
            campaign, key = UUID(int=number + 1), await next_key(issuer.url)
            organisation.collector.publish(campaign, key.text)
            rules = TokenRules(key, campaign)
            askers = Askers(rules=rules, random=random, people=people)
            async with asking(askers, [issuer.url]) as done:
                await die(issuer, askers, done)
            organisation.collector.states[campaign] = "clients-sealed"
        await issuer.stop()
    return askers


async def die(issuer: MortalService, askers: Askers, done: "asyncio.Future[list[None]]") -> None:
    """Kill the issuer some times, and let everybody who began get their answers."""

    async def die_often() -> None:
        for _ in range(DEATHS):
            await any_moment(askers, askers.random)
            await issuer.kill()
            await issuer.begin()
        askers.is_over = True

    dying = asyncio.create_task(die_often())
    done.add_done_callback(lambda _done: dying.cancel())  # somebody noticed
    await asyncio.gather(dying, return_exceptions=True)
    await done
    print(f"{askers.given:,} people, {askers.broken:,} requests broken")  # noqa: T201 - for whoever asks


async def test_each_person_gets_one_token_per_campaign(
    tmp_path: Path, database: str, seed: int
) -> None:
    askers = await play(tmp_path, database, seed)
    assert askers.given > DEATHS
    assert askers.broken
    kept = [path.name for path in tmp_path.iterdir() if path.suffix in (".key", ".issued")]
    assert len(kept) <= 3, kept  # the next key, and those of the last campaign


async def test_an_issuer_that_answers_before_it_commits_is_caught(
    tmp_path: Path, seed: int
) -> None:
    with pytest.raises(AssertionError, match=r"another token, or lost|got 2 tokens"):
        await play(tmp_path, "", seed, "early")
