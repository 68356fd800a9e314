"""An issuer in this process, with a collector and logins that stand in for real ones."""

import base64
import io
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from wire.lists import RELAY_LIST

from blender_dp.issuer.app import IssuerApp
from blender_dp.issuer.campaign_keys import CampaignKeys
from blender_dp.issuer.dependencies import Dependencies
from blender_dp.issuer.logins.http_hook import HttpHook
from blender_dp.issuer.logins.login import Login
from blender_dp.issuer.storage.store import SCHEMA, IssuerStore
from blender_dp.server.collector import Collector
from blender_dp.server.databases.open_database import open_database
from blender_dp.server.event_log import EventLog
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.service.hash_chain import entry
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from blender_dp.wire.tokens.report_token import RESPONSE_BYTES, TokenRules, TokenSecret
from blender_dp.wire.tokens.token_key import read_token_key

CAMPAIGN = UUID("00000000-0000-4000-8000-000000000001")
SIGNING = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PROVIDER, AUDIENCE = "https://login.example", "blender-dp-issuer"


@dataclass
class StandInCollector:
    """Campaigns with their states and the token keys of their lists."""

    states: dict[UUID, str] = field(default_factory=dict)
    token_keys: dict[UUID, str] = field(default_factory=dict)
    signing: Ed25519PrivateKey = SIGNING
    is_down: bool = False

    def publish(self, campaign: UUID, token_key: str, state: str = "clients-open") -> None:
        self.states[campaign], self.token_keys[campaign] = state, token_key

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_down:
            return httpx.Response(503)
        parts = request.url.path.split("/")
        campaign = UUID(parts[3])
        if campaign not in self.states:
            return httpx.Response(404)
        if len(parts) == 4:
            return httpx.Response(200, json={"state": self.states[campaign]})
        return httpx.Response(200, json=self._list(campaign))

    def _list(self, campaign: UUID) -> dict[str, Any]:
        listed = replace(RELAY_LIST, relay=None, token_key=self.token_keys[campaign])
        document = head_list_document(listed)
        named = entry(
            None,
            kind="head-list",
            campaign=campaign,
            digest=document["digest"],
            time=datetime(2026, 11, 18, tzinfo=UTC),
        )
        return signed_head_list_document(
            document, named, campaign=campaign, description="sha256:" + "0" * 64, key=self.signing
        )


class StandInHook:
    """An operator's address that knows people by their codes."""

    def __init__(self) -> None:
        self.people = {"code-of-anna": "anna@example.org", "code-of-bert": "bert@example.org"}
        self.instead: httpx.Response | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.instead is not None:
            return self.instead
        subject = self.people.get(request.headers["authorization"].removeprefix("Bearer "))
        return (
            httpx.Response(401)
            if subject is None
            else httpx.Response(200, json={"subject": subject})
        )


class StandInProvider:
    """An OpenID Connect provider: discovery document, keys, and tokens that it signs."""

    def __init__(self) -> None:
        self.keys: dict[str, RSAPrivateKey] = {}
        self.rotate("first")
        self.discovery: dict[str, Any] = {
            "issuer": PROVIDER,
            "jwks_uri": f"{PROVIDER}/jwks",
            "id_token_signing_alg_values_supported": ["RS256"],
        }
        self.is_down = False
        self.reads = 0

    def rotate(self, kid: str) -> None:
        """Sign with a new key from now on; withdraw all others."""
        self.kid, self.keys = kid, {kid: generate_private_key(65537, 2048)}

    def token(self, *, alg: str = "RS256", headers: Any = None, **changed: Any) -> str:
        now = int(time.time())
        claims = {"iss": PROVIDER, "aud": AUDIENCE, "sub": "anna", "iat": now, "exp": now + 300}
        claims = {name: value for name, value in (claims | changed).items() if value is not None}
        named = {"kid": self.kid, **(headers or {})}
        return jwt.encode(claims, self.keys[self.kid], algorithm=alg, headers=named)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_down:
            return httpx.Response(503)
        if request.url.path == "/.well-known/openid-configuration":
            self.reads += 1
            return httpx.Response(200, json=self.discovery)
        return httpx.Response(200, json={"keys": [self._jwk(kid) for kid in self.keys]})

    def _jwk(self, kid: str) -> dict[str, str]:
        public = self.keys[kid].public_key().public_numbers()
        n = base64.urlsafe_b64encode(public.n.to_bytes(256)).rstrip(b"=").decode()
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": n, "e": "AQAB"}


@dataclass(frozen=True, kw_only=True)
class Device:
    """What a device knows of an issuer and a collector, and does."""

    http: httpx.AsyncClient
    collector: StandInCollector

    def rules(self, campaign: UUID = CAMPAIGN) -> TokenRules:
        key = read_token_key(self.collector.token_keys[campaign])
        assert key is not None
        return TokenRules(key, campaign)

    async def ask(
        self, request: bytes, credential: str = "code-of-anna", campaign: UUID = CAMPAIGN
    ) -> httpx.Response:
        return await self.http.post(
            f"/v1/campaigns/{campaign}/report-token",
            json={"version": 1, "request": to_text(request)},
            headers={"authorization": f"Bearer {credential}"},
        )

    async def token(self, credential: str = "code-of-anna", campaign: UUID = CAMPAIGN) -> bytes:
        """Return the token of one person; it verifies."""
        rules = self.rules(campaign)
        secret = TokenSecret.draw(rules.key)
        answer = await self.ask(rules.request(secret), credential, campaign)
        assert answer.status_code == 200, answer.text
        response = from_text(answer.json()["response"], RESPONSE_BYTES)
        assert response is not None
        return rules.token(secret, response)


@dataclass(frozen=True, kw_only=True)
class Issuer(Device):
    """A device beside an issuer in this process."""

    app: IssuerApp
    hook: StandInHook
    lines: io.StringIO

    @property
    def next_key(self) -> str:
        return self.app.dependencies.keys.next_key().token_key.text

    def refusals(self) -> list[str]:
        lines = map(json.loads, self.lines.getvalue().splitlines())
        return [line["reason"] for line in lines if line["event"] == "list-refused"]


@asynccontextmanager
async def running(
    directory: Path,
    collector: StandInCollector | None = None,
    login: Login | None = None,
    database: str | None = None,
) -> AsyncIterator[Issuer]:
    """Start an issuer; entering again with the same directory starts it anew."""
    collector, hook, lines = collector or StandInCollector(), StandInHook(), io.StringIO()
    keys = CampaignKeys(directory)
    opened = await open_database(database or str(directory / "issuer.sqlite"), SCHEMA)
    dependencies = Dependencies(
        store=IssuerStore(opened),
        keys=keys,
        login=login or HttpHook("https://hook.example/me", httpx.MockTransport(hook)),
        collector=Collector("http://collector", httpx.MockTransport(collector)),
        event_log=EventLog(lambda: datetime.now(UTC), lines),
    )
    app = IssuerApp(dependencies)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://issuer") as http:
        yield Issuer(app=app, http=http, collector=collector, hook=hook, lines=lines)
    await dependencies.login.close()
    await dependencies.collector.close()
    await opened.close()
    keys.close()


@asynccontextmanager
async def issuing(directory: Path, login: Login | None = None) -> AsyncIterator[Issuer]:
    """Start an issuer whose next key one open campaign names."""
    async with running(directory, login=login) as issuer:
        issuer.collector.publish(CAMPAIGN, issuer.next_key)
        yield issuer
