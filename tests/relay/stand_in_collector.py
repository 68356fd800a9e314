"""A collector that does what the relay's contract says, in memory: an ASGI application."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from wire.lists import RELAY_LIST

from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.relayed.batch import Destroyed, SignedStatement, read_piece, read_statement
from blender_dp.wire.relayed.encrypted_report import (
    RelayedReport,
    ReportEncryption,
    encryption_key_of,
)
from blender_dp.wire.relayed.listed_relay import ListedRelay
from blender_dp.wire.service.hash_chain import entry
from blender_dp.wire.service.signed_head_list import signed_head_list_document

SIGNING = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OPENING = X25519PrivateKey.from_private_bytes(bytes(range(32)))


class StandInCollector:
    """One campaign, its signed list, and the batch that came."""

    def __init__(
        self,
        campaign: UUID,
        relay_key: str,
        *,
        least_batch: int = 5,
        key: Any = SIGNING,
        encryption_key: str | None = None,
    ) -> None:
        assert RELAY_LIST.relay is not None
        self.campaign, self.state = campaign, "clients-open"
        self.batch_state = "waiting"
        self.head_list: HeadList = replace(
            RELAY_LIST, relay=replace(RELAY_LIST.relay, least_batch=least_batch)
        )
        self.encryption_key = encryption_key or encryption_key_of(OPENING)
        self.document = self._signed(relay_key, key)
        self.digest: str = self.document["head_list"]["digest"]
        self.encryption = ReportEncryption(self.head_list, campaign=campaign, digest=self.digest)
        self.pieces: dict[int, bytes] = {}
        self.signed: dict[str, Any] | None = None
        """The relay's statement about the batch that came, with its signature."""
        self.destroyed: SignedStatement | None = None
        self.requests: list[tuple[str, str, bytes]] = []
        self.announced: list[tuple[str, str | None]] = []
        """Kind and campaign of each entry of the public log."""
        self.failures = 0
        """How many of the next requests are answered with 503."""
        self.instead: bytes | None = None
        """What every request is answered with, as a proxy in between does."""

    def _signed(self, relay_key: str, key: Ed25519PrivateKey) -> dict[str, Any]:
        listed = head_list_document(self.head_list)
        named = entry(
            None,
            kind="head-list",
            campaign=self.campaign,
            digest=listed["digest"],
            time=datetime(2026, 11, 18, tzinfo=UTC),
        )
        relay = ListedRelay(
            address="http://127.0.0.1:1/",
            public_key=relay_key,
            encryption_key=self.encryption_key,
        )
        return signed_head_list_document(
            listed,
            named,
            campaign=self.campaign,
            description="sha256:" + "0" * 64,
            key=key,
            relay=relay,
        )

    def encrypt(self, number: int, cell: int = 0) -> bytes:
        """Return what a device would send."""
        report = RelayedReport(report_id=number.to_bytes(16), cell=cell)
        return self.encryption.encrypt(report, encryption_key_of(OPENING))

    @property
    def encrypted(self) -> bytes:
        """Everything that came, in the order of the pieces."""
        return b"".join(self.pieces[piece] for piece in sorted(self.pieces))

    def numbers(self) -> list[int]:
        """Return the ids of all reports in the order sent, decrypted."""
        length, content = self.encryption.length, self.encrypted
        rows = [content[i : i + length] for i in range(0, len(content), length)]
        return [int.from_bytes(self.encryption.decrypt(row, OPENING).report_id) for row in rows]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":  # the relay was killed
                return
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.requests.append((scope["method"], scope["path"], body))
        start = int(scope["query_string"].partition(b"from=")[2] or 0)
        status, answer = self._answer(scope["method"], scope["path"], start, body)
        content = json.dumps(answer).encode() if self.instead is None else self.instead
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _log(self, start: int) -> tuple[int, Any]:
        """Answer as the service does: with the entries from an index on."""
        if start > len(self.announced):
            return 400, {}
        entries = [
            {"index": index, "kind": kind, "campaign": campaign}
            for index, (kind, campaign) in enumerate(self.announced)
        ]
        return 200, {"entries": entries[start:]}

    def _answer(self, method: str, path: str, start: int, body: bytes) -> tuple[int, Any]:
        if self.failures:
            self.failures -= 1
            return 503, {}
        if path == "/v1/log":
            return self._log(start)
        place = path.removeprefix(f"/v1/campaigns/{self.campaign}")
        if place == "":
            return 200, {"state": self.state}
        if place == "/head-list":
            return 200, self.document
        if place != "/relayed-reports":
            return 404, {}
        return (200, self._shown()) if method == "GET" else self._take(json.loads(body))

    def _shown(self) -> dict[str, Any]:
        return {
            "pieces_received": sorted(self.pieces),
            "count": len(self.encrypted) // self.encryption.length,
            "state": self.batch_state,
            "statement": self.signed,
        }

    def _take(self, document: dict[str, Any]) -> tuple[int, Any]:
        try:
            if "piece" not in document:
                signed = read_statement(document)
                assert isinstance(signed.statement, Destroyed)
                self.destroyed, self.batch_state = signed, "destroyed"
                return 202, {"complete": False}
            piece = read_piece(document, self.encryption.length)
        except BlenderError:
            return 422, {}
        stated = {name: part for name, part in document.items() if name not in ("piece", "reports")}
        self.signed = self.signed or stated
        is_same = self.signed["statement"] == stated["statement"]
        if not is_same or self.pieces.setdefault(piece.piece, piece.encrypted) != piece.encrypted:
            return 409, {}
        if len(self.pieces) < piece.statement.pieces:
            return 202, {"complete": False}
        found = "sha256:" + hashlib.sha256(self.encrypted).hexdigest()
        if found != piece.statement.digest:
            return 409, {}
        self.batch_state = "complete"
        return 202, {"complete": True}
