"""A relay that is killed at any moment forwards what it acknowledged once, or says it did not.

Several campaigns, one after the other. While devices send, and again while the batch is forwarded,
the relay is killed and started. Every third campaign has too few reports and must be destroyed.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import httpx
import pytest
from end_to_end.kills.lives import KILLS, PATIENCE
from end_to_end.kills.mortal_service import MortalService, mortal
from end_to_end.kills.stand_in_server import listening
from relay.stand_in_collector import StandInCollector

from blender_dp.relay.signing_key import signing_key
from blender_dp.wire.relayed.encrypted_report import relayed_reports_document
from blender_dp.wire.service.signatures import public_key_of
from postgres_server import PostgresServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SENDING, FORWARDING = 5, 3
"""Deaths of a campaign while devices send, and while it is forwarded."""
ROUNDS = max(1, KILLS // (SENDING + FORWARDING))
SIZES = (1, 1, 7, 90)
_LATEST = 0.2
FEW = 10**6
"""A smallest batch that is never reached."""


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest) -> str:
    """Return the address of an empty database; nothing for SQLite beside the key."""
    if request.param == "sqlite":
        return ""
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return await server.fresh_database()


@dataclass(slots=True)
class Campaign:
    """One campaign: its collector, and what devices know."""

    collector: StandInCollector
    sent: set[int] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)
    broken: int = 0
    is_sending: bool = True

    async def load(self, http: httpx.AsyncClient, size: int) -> None:
        """Send requests until told to stop; a request is repeated until it is acknowledged."""
        path = f"/v1/campaigns/{self.collector.campaign}/reports"
        while self.is_sending:
            numbers = [len(self.sent) + i for i in range(size)]
            self.sent.update(numbers)
            encrypted = [self.collector.encrypt(number) for number in numbers]
            document = relayed_reports_document(
                self.collector.digest, self.collector.encryption_key, encrypted
            )
            while self.is_sending:
                try:
                    answer = await http.post(path, json=document)
                except httpx.TransportError:  # it died: nobody knows what became of the request
                    self.broken += 1
                    continue
                if answer.status_code == 202:
                    self.acknowledged.update(numbers)
                    break
                expected = 503 if self.is_sending else 409  # sealed meanwhile
                assert answer.status_code in (503, expected), answer.text
                await asyncio.sleep(0.02)

    def tell(self, counts: dict[str, Any]) -> None:
        """Print what became of the reports; pytest shows it with ``-rP``."""
        times = Counter(self.collector.numbers())
        lost = 0 if counts["state"] == "destroyed" else len(self.acknowledged - times.keys())
        print(  # noqa: T201 - for whoever asks
            f"{len(self.acknowledged):,} acknowledged, {counts['forwarded']:,} forwarded, "
            f"{counts['destroyed']:,} destroyed, {lost} lost, "
            f"{sum(times.values()) - len(times)} doubled; {SENDING + FORWARDING + 1} kills"
        )

    def assert_kept(self, counts: dict[str, Any]) -> None:
        """Fail unless every acknowledged report was forwarded once, or destroyed and said so."""
        if counts["state"] == "destroyed":
            assert not self.collector.pieces
            assert self.collector.destroyed is not None
            stated = self.collector.destroyed.statement.count
            assert len(self.acknowledged) <= stated <= len(self.sent), "destroyed reports are lost"
            return
        assert counts["state"] == "forwarded"
        times = Counter(self.collector.numbers())
        assert not self.acknowledged - times.keys(), "acknowledged reports are lost"
        assert set(times.values()) <= {1}, "a report was forwarded twice"
        assert times.keys() <= self.sent
        assert counts["forwarded"] == len(times)


class Collectors:
    """The campaigns' collectors at one address."""

    def __init__(self) -> None:
        self.by_campaign: dict[str, StandInCollector] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/v1/log":  # any of them: nothing is announced
            await next(iter(self.by_campaign.values()))(scope, receive, send)
        else:
            await self.by_campaign[scope["path"].split("/")[3]](scope, receive, send)


async def send_and_die(relay: MortalService, campaign: Campaign, random: Random) -> None:
    """Have devices send while the relay dies; seal while it is dead."""
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(base_url=relay.url, headers=headers, timeout=60) as http:
        loaders = [asyncio.create_task(campaign.load(http, size)) for size in SIZES]
        for _ in range(SENDING):
            await relay.begin()
            before = len(campaign.acknowledged)
            while len(campaign.acknowledged) == before:
                await asyncio.sleep(0.01)
                assert not any(loader.done() for loader in loaders)
            await asyncio.sleep(random.uniform(0, _LATEST))
            await relay.kill()
        campaign.is_sending = False
        campaign.collector.state = "clients-sealed"
        await relay.begin()  # answers what still waits in the socket
        await asyncio.gather(*loaders)
        await relay.kill()


async def forward_and_die(relay: MortalService, campaign: Campaign, random: Random) -> None:
    for _ in range(FORWARDING):
        await relay.begin()
        with suppress(httpx.TransportError):
            await relay.answers()
        await asyncio.sleep(random.uniform(0, _LATEST))
        await relay.kill()
    await relay.begin()
    async with httpx.AsyncClient(base_url=relay.url, timeout=60) as http:
        while True:
            answer = await http.get(f"/v1/campaigns/{campaign.collector.campaign}")
            counts = answer.json()
            if counts["state"] in ("forwarded", "destroyed") and _is_told(campaign, counts):
                break
            await asyncio.sleep(0.02)
    await relay.stop()
    campaign.tell(counts)
    campaign.assert_kept(counts)


def _is_told(campaign: Campaign, counts: dict[str, Any]) -> bool:
    return counts["state"] == "forwarded" or campaign.collector.destroyed is not None


async def play(directory: Path, database: str, seed: int, *flaws: str, rounds: int) -> None:
    key, random, collectors = public_key_of(signing_key(directory)), Random(seed), Collectors()
    async with (
        asyncio.timeout(PATIENCE),
        listening(collectors) as address,
        mortal("mortal_relay.py", directory, database, address, *flaws) as relay,
    ):
        for number in range(rounds):
            least = FEW if number % 3 == 2 else 10
            campaign = Campaign(StandInCollector(UUID(int=number + 1), key, least_batch=least))
            collectors.by_campaign[str(campaign.collector.campaign)] = campaign.collector
            await send_and_die(relay, campaign, random)
            await forward_and_die(relay, campaign, random)
            assert campaign.broken >= 1
            assert len(campaign.acknowledged) > 10


async def test_what_is_acknowledged_is_forwarded_once_or_destroyed_and_said(
    tmp_path: Path, database: str, seed: int
) -> None:
    await play(tmp_path, database, seed, rounds=ROUNDS)


async def test_a_relay_that_acknowledges_before_it_commits_is_caught(
    tmp_path: Path, seed: int
) -> None:
    with pytest.raises(AssertionError, match="acknowledged reports are lost"):
        await play(tmp_path, "", seed, "early", rounds=2)
