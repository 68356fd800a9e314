"""Relay and collector, both real and both killed at any moment: every report counts exactly once.

Devices repeat each request until the relay acknowledges it. The campaign is then sealed and
released, and the release counts every report once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from end_to_end.kills.lives import KILLS, PATIENCE
from end_to_end.kills.mortal_service import MortalService, mortal, mortal_service
from service.relays import RelayedCampaign, relayed_campaign
from service.running import running

from blender_dp.wire.relayed.encrypted_report import relayed_reports_document

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
DEATHS = max(4, KILLS // 4)
SIZES = (1, 3, 40)
LEAST_BATCH = 60
_LATEST = 0.4


class Deaths:
    """Kills one of two processes after the other, at any moment, as long as something runs."""

    def __init__(self, processes: list[MortalService], random: Random) -> None:
        self._processes, self._random = processes, random
        self.count = 0

    async def during(self, work: Awaitable[Any], most: int) -> None:
        """Kill so often, or until the work is done, which it must be in the end."""
        running_work = asyncio.ensure_future(work)
        while self.count < most and not running_work.done():
            await asyncio.sleep(self._random.uniform(0, _LATEST))
            process = self._random.choice(self._processes)
            await process.kill()
            await process.begin()
            self.count += 1
        await running_work


async def again(ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Repeat a request until it is answered by a process that lives."""
    while True:
        with suppress(httpx.TransportError):
            answer = await ask()
            if answer.status_code < 500:
                return answer
        await asyncio.sleep(0.02)


async def report(http: httpx.AsyncClient, campaign: RelayedCampaign, size: int) -> int:
    """Send requests of one size, each until it is acknowledged; return how many reports."""
    path = f"/v1/campaigns/{campaign.id}/reports"
    assert campaign.signed.relay is not None
    digest, key = campaign.signed.digest, campaign.signed.relay.encryption_key
    for _ in range(LEAST_BATCH):
        document = relayed_reports_document(digest, key, campaign.honest(size))
        answer = await again(lambda body=document: http.post(path, json=body))  # type: ignore[misc]
        assert answer.status_code == 202, answer.text
    return LEAST_BATCH * size


@asynccontextmanager
async def client(url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        yield http


async def until_released(http: httpx.AsyncClient, path: str) -> None:
    while (await again(lambda: http.get(path))).json()["state"] != "released":
        await asyncio.sleep(0.05)


async def ended(http: httpx.AsyncClient, path: str) -> dict[str, Any]:
    """Return the relay's counts once it deleted its batch: it may have died just before."""
    while (counts := (await again(lambda: http.get(path))).json())["state"] == "forwarding":
        await asyncio.sleep(0.05)
    shown: dict[str, Any] = counts
    return shown


async def test_every_report_counts_once_though_both_are_killed(tmp_path: Path, seed: int) -> None:
    collecting, relaying = tmp_path / "collector", tmp_path / "relay"
    collecting.mkdir()
    relaying.mkdir(mode=0o700)
    async with running(collecting) as service:
        campaign = await relayed_campaign(service, is_sealed=False, least_batch=LEAST_BATCH)
        operator = service.as_role()
    (relaying / "relay.key").write_bytes(campaign.key.private_bytes_raw())
    path = f"/v1/campaigns/{campaign.id}"
    async with (
        asyncio.timeout(PATIENCE),
        mortal_service(collecting) as collector,
        mortal("mortal_relay.py", relaying, "", collector.url) as relay,
        client(collector.url) as at_collector,
        client(relay.url) as at_relay,
    ):
        deaths = Deaths([collector, relay], Random(seed))
        for process in (collector, relay):
            await process.begin()
        sending = asyncio.gather(*(report(at_relay, campaign, size) for size in SIZES))
        await deaths.during(sending, DEATHS // 2)
        sent = sum(await sending)
        move = {"move": "seal-clients", "from": "clients-open"}
        await again(lambda: at_collector.post(f"{path}/moves", json=move, headers=operator))
        await deaths.during(until_released(at_collector, path), DEATHS)
        counts = await ended(at_relay, path)
        batch = (await again(lambda: at_collector.get(f"{path}/relayed-reports"))).json()
        release = (await again(lambda: at_collector.get(f"{path}/release"))).json()
        for process in (relay, collector):
            await process.stop()
    said = f"{deaths.count} kills, {sent:,} acknowledged, {batch['counted']:,} counted"
    print(said)  # noqa: T201 - for whoever asks
    assert deaths.count >= DEATHS // 2
    assert (counts["state"], counts["forwarded"]) == ("forwarded", sent)
    assert (batch["state"], batch["count"], batch["counted"]) == ("counted", sent, sent)
    assert release["users"]["relay_clients"] == sent
