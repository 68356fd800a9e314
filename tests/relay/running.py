"""A relay in this process, with a stand-in collector, on either database."""

import io
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from relay.stand_in_collector import StandInCollector

from blender_dp.relay.app import RelayApp
from blender_dp.relay.collector import BatchCollector
from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.storage.store import SCHEMA, RelayStore
from blender_dp.server.databases.open_database import open_database
from blender_dp.server.event_log import EventLog
from blender_dp.wire.relayed.encrypted_report import (
    relayed_report_document,
    relayed_reports_document,
)
from blender_dp.wire.service.signatures import public_key_of

CAMPAIGN = UUID("00000000-0000-4000-8000-000000000001")
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
PUBLIC_KEY = public_key_of(KEY)
PATH = f"/v1/campaigns/{CAMPAIGN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """A relay, its collector, and its lines."""

    app: RelayApp
    http: httpx.AsyncClient
    collector: StandInCollector
    lines: io.StringIO

    async def send(self, *encrypted: bytes, **changed: Any) -> httpx.Response:
        """Post one report, or several as a batch."""
        digest, key = self.collector.digest, self.collector.encryption_key
        document = (
            relayed_report_document(digest, key, encrypted[0])
            if len(encrypted) == 1
            else relayed_reports_document(digest, key, encrypted)
        )
        return await self.http.post(f"{PATH}/reports", json={**document, **changed})

    async def fill(self, numbers: Iterable[int]) -> list[bytes]:
        """Have reports accepted."""
        sent = [self.collector.encrypt(number) for number in numbers]
        answer = await self.send(*sent)
        assert answer.status_code == 202
        return sent

    async def tick(self) -> None:
        """Look at the collector once."""
        await self.app.forwarder.tick()

    async def counts(self) -> dict[str, Any]:
        answer = await self.http.get(PATH)
        assert answer.status_code == 200
        shown: dict[str, Any] = answer.json()
        return shown


@asynccontextmanager
async def running(
    database: str | Path, collector: StandInCollector | None = None, **options: Any
) -> AsyncIterator[Relay]:
    """Start a relay; entering again with the same database starts it anew."""
    collector = collector or StandInCollector(CAMPAIGN, PUBLIC_KEY)
    opened = await open_database(str(database), SCHEMA)
    lines = io.StringIO()
    dependencies = Dependencies(
        store=RelayStore(opened),
        collector=BatchCollector("http://collector", httpx.ASGITransport(app=collector)),
        key=KEY,
        event_log=EventLog(lambda: datetime.now(UTC), lines),
        **{"piece_size": 3, **options},
    )
    app = RelayApp(dependencies)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://relay") as http:
        yield Relay(app=app, http=http, collector=collector, lines=lines)
    await dependencies.collector.close()
    await opened.close()
