"""Issuer as an ASGI application: one route signs, the others show how it is."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import msgspec

from blender_dp.issuer.campaigns import Campaigns, OpenCampaign
from blender_dp.issuer.condition import condition_watch
from blender_dp.issuer.dependencies import Dependencies
from blender_dp.issuer.logins.login import LoginRefusedError, LoginUnavailableError
from blender_dp.issuer.storage.store import Refused
from blender_dp.server.answers import Send
from blender_dp.server.bodies.request_body import Headers, Receive, explain_refusal, read_body
from blender_dp.server.bodies.threads import BodyThreads
from blender_dp.server.metrics import MEDIA_TYPE as METRICS
from blender_dp.server.plain_app import JSON, CampaignRoute, Page, PlainApp
from blender_dp.server.problems import RETRY_SECONDS, Problem
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.tokens.blind_rsa import BlindSignatureError
from blender_dp.wire.tokens.report_token import REQUEST_BYTES, blinded_message_in

_MOST_BYTES = 4096
_MOST_CREDENTIAL = 16384
"""Longest credential, in letters."""
_MOST_LOGINS = 32
"""Logins that are checked at the same time; other callers are told to come back."""
_BEARER = b"bearer "
_MARKS = 6
"""Quotation marks of a body: of two names and one text of letters and digits."""


class WantedToken(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Body of a request for a token."""

    version: int
    request: str


_DECODER = msgspec.json.Decoder(WantedToken)


class IssuerApp:
    """The whole issuer as one ASGI application."""

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies
        self.campaigns = Campaigns(dependencies)
        self._threads = BodyThreads()
        self._logins, self._is_login_reachable = 0, True
        self._condition = condition_watch(
            dependencies, self.campaigns, lambda: self._is_login_reachable
        )
        self._app = PlainApp(
            fixed={"/health": self._health, "/metrics": self._metrics, "/v1/key": self._next_key},
            of_campaign={"/report-token": CampaignRoute("POST", self._issue)},
            live=self._live,
            event_log=dependencies.event_log,
            count_answer=dependencies.metrics.count_answer,
        )

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:  # noqa: ANN401
        """Answer a request, whatever happens."""
        await self._app(scope, receive, send)

    async def _issue(self, campaign: UUID, scope: Any, receive: Receive) -> Page:  # noqa: ANN401
        """Sign the blinded token of a person, once per campaign.

        The same request again gets the same answer; another request of the same person is refused.
        """
        credential = _credential(scope["headers"])
        found = await self.campaigns.find(campaign)
        body = await read_body(scope["headers"], receive, _MOST_BYTES)
        blinded = _blinded(body.plain(_MOST_BYTES), found)
        person = found.key.person(await self._subject(credential))
        digest = hashlib.sha256(blinded).digest()
        issued = await self.dependencies.store.issue(found.number, person, digest)
        if issued is Refused.ENDED:
            raise Problem.NOT_COLLECTING.error()
        if isinstance(issued, Refused):
            raise Problem.TOKEN_ISSUED.error()
        # Counted and signed after it is stored: whoever gets no answer asks again.
        self.dependencies.keys.count(campaign, issued)
        signed = await self._threads.run(found.key.signer.sign, blinded)
        return Page(200, JSON, msgspec.json.encode({"response": to_text(signed)}))

    async def _subject(self, credential: str) -> str:
        """Return who the caller is, as the login says."""
        if self._logins >= _MOST_LOGINS:
            raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS)
        self._logins += 1
        try:
            subject = await self.dependencies.login.subject(credential)
        except LoginRefusedError:
            self._is_login_reachable = True
            raise Problem.TOKEN_UNKNOWN.error() from None
        except LoginUnavailableError:
            self._is_login_reachable = False
            raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS) from None
        finally:
            self._logins -= 1
        self._is_login_reachable = True
        return subject

    async def _next_key(self) -> Page:
        key = self.dependencies.keys.next_key().token_key.text
        return Page(200, JSON, msgspec.json.encode({"public_key": key}))

    async def _health(self) -> Page:
        condition = await self._condition.current()
        content = msgspec.json.encode(condition.document())
        return Page(200 if condition.is_working else 503, JSON, content)

    async def _metrics(self) -> Page:
        await self._condition.current()
        return Page(200, METRICS, self.dependencies.metrics.text())

    @asynccontextmanager
    async def _live(self) -> AsyncIterator[None]:
        """End campaigns that are closed, from the start to the end of the server."""
        task = asyncio.create_task(self.campaigns.run(self.dependencies.poll_seconds))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._threads.close()


def _credential(headers: Headers) -> str:
    """Return what a caller sent after ``Bearer``."""
    sent = [value for name, value in headers if name == b"authorization"]
    if len(sent) != 1 or not sent[0].lower().startswith(_BEARER):
        raise Problem.TOKEN_MISSING.error()
    credential = sent[0][len(_BEARER) :].strip()
    is_plain = all(0x21 <= letter <= 0x7E for letter in credential)
    if not credential or len(credential) > _MOST_CREDENTIAL or not is_plain:
        raise Problem.TOKEN_UNKNOWN.error()
    return credential.decode("ascii")


def _blinded(body: bytes, campaign: OpenCampaign) -> bytes:
    """Return the blinded message of a body, or refuse it."""
    try:
        decoded = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise explain_refusal(body) from None
    if body.count(b'"') != _MARKS:  # the decoder keeps the last of two equal keys
        raise Problem.DUPLICATE_KEY.error()
    is_known = decoded.version == 1 and decoded.request.isascii()
    asked = from_text(decoded.request, REQUEST_BYTES) if is_known else None
    try:
        blinded = blinded_message_in(asked or b"", campaign.key.token_key)
        campaign.key.signer.require_signable(blinded)
    except BlindSignatureError:
        raise Problem.TOKEN_REQUEST_REFUSED.error() from None
    return blinded
