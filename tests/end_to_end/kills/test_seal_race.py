"""Sixty-four uploaders race a seal: each has a definite answer, and the release has what was taken.

On PostgreSQL half of them use one service and half another, and the second one seals.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from end_to_end.kills.books import Books
from end_to_end.kills.mortal_service import mortal_service
from service.running import Published, running, slug_of

from blender_dp.service.http.access import Role
from postgres_server import PostgresServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
UPLOADERS = 64
BEFORE_SEALING = 500
PATIENCE = 180


@dataclass(frozen=True, slots=True)
class Collection:
    """A campaign, its services and their operator."""

    campaign: Published
    clients: list[httpx.AsyncClient]
    operator: dict[str, str]

    @property
    def path(self) -> str:
        return f"/v1/campaigns/{self.campaign.campaign}"

    async def sealed(self) -> None:
        move = {"move": "seal-clients", "from": "clients-open"}
        sealing = self.clients[-1].post(f"{self.path}/moves", json=move, headers=self.operator)
        assert (await sealing).status_code == 200

    async def released(self) -> dict[str, Any]:
        """Wait for the release and return what it says of clients."""
        async with asyncio.timeout(PATIENCE):
            while True:
                answer = await self.clients[0].get(f"{self.path}/client-estimates")
                if answer.status_code == 200:
                    estimates: dict[str, Any] = answer.json()
                    return estimates
                await asyncio.sleep(0.1)


@pytest.fixture(params=["sqlite", "postgres"])
async def collection(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Collection]:
    database = ""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        database = await server.fresh_database()
    async with running(tmp_path, database=database or None) as service:
        campaign, operator = await service.published(), service.as_role(Role.OPERATOR)
    async with AsyncExitStack() as stack:
        clients = []
        for _ in range(2 if database else 1):
            one = await stack.enter_async_context(mortal_service(tmp_path, database))
            await one.begin()
            await one.answers()
            # The service ends idle connections; a client must not send on one at that moment.
            limits = httpx.Limits(max_connections=UPLOADERS, keepalive_expiry=1)
            http = httpx.AsyncClient(base_url=one.url, timeout=60, limits=limits)
            clients.append(await stack.enter_async_context(http))
        yield Collection(campaign, clients, operator)


async def test_what_was_accepted_is_what_is_released(collection: Collection) -> None:
    books = Books(collection.campaign.head_list)
    accepted = 0
    enough = asyncio.Event()
    refused: set[tuple[int, str]] = set()

    async def upload(http: httpx.AsyncClient, size: int) -> None:
        nonlocal accepted
        headers = {"content-type": "application/json"}
        while True:
            body = books.upload(size).body
            answer = await http.post(f"{collection.path}/reports", content=body, headers=headers)
            if answer.status_code != 202:
                refused.add((answer.status_code, slug_of(answer)))
                return
            assert answer.json() == {"accepted": size, "repeated": 0}
            accepted += size
            if accepted >= BEFORE_SEALING:
                enough.set()

    async def seal() -> None:
        await enough.wait()
        await collection.sealed()

    clients = cycle(collection.clients)
    uploads = [upload(next(clients), 1 + number % 3) for number in range(UPLOADERS)]
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(seal(), *uploads)
    assert refused == {(409, "campaign-not-collecting")}
    estimates = await collection.released()
    assert estimates["reports"] + estimates["query_reports"] == accepted >= BEFORE_SEALING
