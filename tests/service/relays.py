"""A relay of tests: it encrypts for a campaign, and signs and sends batches as a real one does."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from service.running import NAMES, Service, a_relay

from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.wire.relayed.batch import Destroyed, Forwarded, piece_document, statement_document
from blender_dp.wire.relayed.encrypted_report import RelayedReport, ReportEncryption
from blender_dp.wire.service.signatures import public_key_of
from blender_dp.wire.service.signed_head_list import SignedHeadList, read_signed_head_list

LEAST_BATCH = 60
EPSILON = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedCampaign:
    """A campaign with a relay, sealed for clients, and what its relay knows."""

    service: Service
    id: str
    signed: SignedHeadList
    key: Ed25519PrivateKey

    @property
    def path(self) -> str:
        return f"/v1/campaigns/{self.id}/relayed-reports"

    @property
    def encryption(self) -> ReportEncryption:
        return ReportEncryption(
            self.signed.head_list, campaign=self.signed.campaign, digest=self.signed.digest
        )

    def encrypted(self, cell: int, report_id: bytes | None = None) -> bytes:
        assert self.signed.relay is not None
        report = RelayedReport(report_id=report_id or os.urandom(16), cell=cell)
        return self.encryption.encrypt(report, self.signed.relay.encryption_key)

    def honest(self, count: int) -> list[bytes]:
        """Return reports as devices make them."""
        head_list = self.signed.head_list.for_relay()
        made = []
        for number in range(count):
            name = os.urandom(16)
            device = LocalRandomizer(head_list, campaign_id=name)
            (cell,) = device.report(*NAMES[number % len(NAMES)]).items
            made.append(self.encrypted(int(cell), name))
        return made

    def batch(self, reports: Sequence[bytes], pieces: int = 1, **changes: Any) -> "Batch":
        facts: dict[str, Any] = {
            "campaign": UUID(self.id),
            "head_list": self.signed.digest,
            "count": len(reports),
            "pieces": pieces,
            "digest": "sha256:" + hashlib.sha256(b"".join(reports)).hexdigest(),
        }
        return Batch(statement=Forwarded(**facts | changes), reports=list(reports), key=self.key)

    def destroyed(self, count: int) -> dict[str, Any]:
        statement = Destroyed(campaign=UUID(self.id), head_list=self.signed.digest, count=count)
        return statement_document(statement, self.key)

    async def send(self, body: dict[str, Any]) -> httpx.Response:
        return await self.service.http.post(self.path, json=body)

    async def sent(self, reports: Sequence[bytes], pieces: int = 1) -> None:
        """Send a whole batch, which must be taken."""
        for body in self.batch(reports, pieces).bodies():
            answer = await self.send(body)
            assert answer.status_code == 202, answer.text
        assert answer.json()["complete"]

    async def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.service.http.get(self.path)).json()
        return found

    async def released(self) -> dict[str, Any]:
        """Let the release be made, and return it."""
        self.service.clock.pass_by(20)
        await self.service.jobs_done()
        answer = await self.service.http.get(f"/v1/campaigns/{self.id}/release")
        assert answer.status_code == 200, await self.service.progress(self.id)
        found: dict[str, Any] = answer.json()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as its relay states it."""

    statement: Forwarded
    reports: list[bytes]
    key: Ed25519PrivateKey
    extra: dict[str, Any] = field(default_factory=dict)

    def bodies(self) -> list[dict[str, Any]]:
        """Return a request for every piece."""
        signed, size = statement_document(self.statement, self.key), self.statement.piece_size
        return [
            {**piece_document(signed, piece, self.reports[piece * size :][:size]), **self.extra}
            for piece in range(self.statement.pieces)
        ]


async def relayed_campaign(
    service: Service,
    *,
    clients: int = 30,
    is_sealed: bool = True,
    least_batch: int = LEAST_BATCH,
    **changes: Any,
) -> RelayedCampaign:
    """Return a campaign with a relay; so many others reported directly."""
    key = Ed25519PrivateKey.generate()
    relay = a_relay(public_key=public_key_of(key), least_batch=least_batch)
    published = await service.published(relay=relay, **changes)
    if clients:
        answer = await service.send(published.campaign, published.batch(clients))
        assert answer.status_code == 202, answer.text
    document = (await service.http.get(f"/v1/campaigns/{published.campaign}/head-list")).json()
    if is_sealed:
        await service.moved(published.campaign, "seal-clients", "clients-open")
    return RelayedCampaign(
        service=service,
        id=published.campaign,
        signed=read_signed_head_list(document),
        key=key,
    )
