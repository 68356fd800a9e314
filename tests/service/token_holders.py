"""People with report tokens: they enrol, ask blindly, and report with what they got."""

import os
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA384
from service.running import NAMES, Published, Service

from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.service.keys.key_vault import report_tokens_key
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.reports.service_report import report_id_of, service_report_document
from blender_dp.wire.tokens.report_token import (
    RESPONSE_BYTES,
    TokenRules,
    TokenSecret,
    token_rules,
)

TOKENS: dict[str, Any] = {"reports": "token"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCampaign:
    """A campaign whose reports need tokens, and what its devices know."""

    service: Service
    published: Published

    @property
    def id(self) -> str:
        return self.published.campaign

    @property
    def rules(self) -> TokenRules:
        rules = token_rules(self.published.head_list, UUID(self.id))
        assert rules is not None
        return rules

    async def ask(self, enrolment: str, request: bytes) -> httpx.Response:
        return await ask(self.service, self.id, enrolment, request)

    async def token(self, enrolment: str | None = None) -> bytes:
        """Return the token of one person."""
        if enrolment is None:
            (enrolment,) = await self.service.enrolled(self.id, 1)
        secret = TokenSecret.draw(self.rules.key)
        answer = await self.ask(enrolment, self.rules.request(secret))
        assert answer.status_code == 200, answer.text
        response = from_text(answer.json()["response"], RESPONSE_BYTES)
        assert response is not None
        return self.rules.token(secret, response)

    def signed_tokens(self, count: int) -> list[bytes]:
        """Return many tokens, signed with the service's key without asking it."""
        private = report_tokens_key(self.service.dependencies.keys, UUID(self.id))
        return tokens_signed_by(private, self.rules, count)

    async def token_that_asks(self, question: str) -> bytes:
        """Return a token whose report answers this question; without one there is no release."""
        while True:
            token = await self.token()
            if self.report(token)["question"] == question:
                return token

    def report(self, token: bytes, number: int = 0) -> dict[str, Any]:
        """Return an honest report with a token."""
        head_list = self.published.head_list
        device = LocalRandomizer(head_list, campaign_id=report_id_of(token))
        report = device.report(*NAMES[number % len(NAMES)])
        return service_report_document(head_list, token, report)

    async def send(self, body: Any) -> httpx.Response:
        return await self.service.send(self.id, body)


def tokens_signed_by(private: RSAPrivateKey, rules: TokenRules, count: int) -> list[bytes]:
    """Return tokens that a key signs, plainly: they are the same as blindly signed ones."""
    made = []
    for _ in range(count):
        signed = rules.token_input(os.urandom(32))
        made.append(signed + private.sign(signed, PSS(MGF1(SHA384()), 48), SHA384()))
    return made


async def ask(service: Service, campaign: str, enrolment: str, request: bytes) -> httpx.Response:
    return await service.http.post(
        f"/v1/campaigns/{campaign}/report-token",
        json={"version": 1, "request": to_text(request)},
        headers={"authorization": f"Bearer {enrolment}"},
    )


async def token_campaign(service: Service, **changes: Any) -> TokenCampaign:
    """Return a campaign whose reports need tokens, open to clients."""
    return TokenCampaign(service=service, published=await service.published(**TOKENS | changes))
