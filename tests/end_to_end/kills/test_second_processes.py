"""A second process that opens and closes the database takes nothing from the service.

Closing the last connection deletes SQLite's log (``-wal``). If the service has lost its locks, the
second process believes that it is the last, and what is acknowledged afterwards goes to a file
without a name.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from end_to_end.kills.books import Books
from end_to_end.kills.bystanders import ON_SQLITE, Bystanders, bystanders
from end_to_end.kills.mortal_service import MortalService, mortal_service
from end_to_end.kills.sqlite_ids import stored_ids
from service.running import Published, running

from blender_dp.service.http.access import Role

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
PATIENCE = 300
EACH = 100
"""Reports sent at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A campaign on a service that can be killed, with other processes beside it."""

    directory: Path
    campaign: Published
    token: str
    service: MortalService
    beside: Bystanders
    http: httpx.AsyncClient
    books: Books

    async def report(self) -> None:
        """Send reports, which are acknowledged."""
        upload = self.books.upload(EACH)
        answer = await self.http.post(
            f"/v1/campaigns/{self.campaign.campaign}/reports",
            content=upload.body,
            headers={"content-type": "application/json"},
        )
        assert answer.json() == {"accepted": EACH, "repeated": 0}
        self.books.acknowledged.update(upload.ids)

    async def status_for_operator(self) -> int:
        """Return what the operator's token gets."""
        answer = await self.http.get(
            f"/v1/campaigns/{self.campaign.campaign}/progress",
            headers={"authorization": f"Bearer {self.token}"},
        )
        return answer.status_code

    def stored_ids(self) -> set[bytes]:
        """Return what is on disk, which must be whole."""
        return set(stored_ids(self.directory / "service.sqlite"))


@pytest.fixture
async def collection(tmp_path: Path) -> AsyncIterator[Collection]:
    async with running(tmp_path) as service:
        campaign, token = await service.published(), service.tokens[Role.OPERATOR]
    async with (
        mortal_service(tmp_path) as mortal,
        bystanders(tmp_path) as beside,
        httpx.AsyncClient(base_url=mortal.url, timeout=60) as http,
    ):
        yield Collection(
            directory=tmp_path,
            campaign=campaign,
            token=token,
            service=mortal,
            beside=beside,
            http=http,
            books=Books(campaign.head_list),
        )


async def test_what_is_acknowledged_after_a_second_process_survives_a_kill(
    collection: Collection,
) -> None:
    async with asyncio.timeout(PATIENCE):
        for kind in ON_SQLITE:
            await collection.service.begin()
            await collection.report()
            await collection.beside.do(kind)
            await collection.report()
            await collection.service.kill()
            lost = collection.books.acknowledged - collection.stored_ids()
            assert not lost, f"{len(lost)} acknowledged reports are lost after {kind}"


async def test_a_token_that_another_process_revokes_is_refused_at_once(
    collection: Collection,
) -> None:
    async with asyncio.timeout(PATIENCE):
        await collection.service.begin()
        await collection.beside.do("token-list")
        assert await collection.status_for_operator() == 200
        names = await asyncio.to_thread(operators_of, collection.directory)
        for name in names:
            await collection.beside.do(f"token revoke '{name}'")
        assert await collection.status_for_operator() == 401
        await collection.service.stop()


def operators_of(directory: Path) -> list[str]:
    with closing(sqlite3.connect(directory / "service.sqlite")) as connection:
        found = connection.execute("SELECT name FROM tokens WHERE role = 'operator'")
        return [row[0] for row in found]
