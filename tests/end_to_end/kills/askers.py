"""People who ask for a report token while those who issue it die, and what each of them was given.

Each person has two requests for the campaign, sends both at the same moment, repeats each until it
is answered, and does so again a little later, perhaps in another life. Whatever died meanwhile, one
request must give a token, the other none, and both times the same.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random

import httpx
from service.running import slug_of

from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.tokens.report_token import RESPONSE_BYTES, TokenRules, TokenSecret

AT_ONCE = 12
"""People who ask at the same time."""
_PAUSE = 0.02
_LATER = 0.5
"""Seconds until a person asks again, at most."""


@dataclass(slots=True, kw_only=True)
class Askers:
    """People at work, and what they saw."""

    rules: TokenRules
    random: Random
    people: Iterator[str]
    """What each shows: an enrolment, or a credential of a login."""
    is_over: bool = False
    given: int = 0
    """People who got exactly one token."""
    broken: int = 0
    """Requests during which a server died."""
    progress: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, servers: Sequence[httpx.AsyncClient]) -> None:
        """Let one person after the other ask, until it is over."""
        for person in self.people:
            if self.is_over:
                return
            secrets = [TokenSecret.draw(self.rules.key) for _ in range(2)]
            tokens = await self._both(servers, person, secrets)
            await asyncio.sleep(self.random.uniform(0, _LATER))
            given = [token for token in tokens if token is not None]
            assert len(given) == 1, f"a person got {len(given)} tokens"
            again = await self._both(servers, person, secrets)
            assert again == tokens, "a person got another token, or lost theirs"
            self.given += 1

    async def _both(
        self, servers: Sequence[httpx.AsyncClient], person: str, secrets: Sequence[TokenSecret]
    ) -> list[bytes | None]:
        return await asyncio.gather(*(self._answered(servers, person, one) for one in secrets))

    async def _answered(
        self, servers: Sequence[httpx.AsyncClient], person: str, secret: TokenSecret
    ) -> bytes | None:
        """Repeat a request, at any of the servers, until it gets a token or none for good."""
        path = f"/v1/campaigns/{self.rules.campaign}/report-token"
        body = {"version": 1, "request": to_text(self.rules.request(secret))}
        headers = {"authorization": f"Bearer {person}"}
        while True:
            try:
                answer = await self.random.choice(servers).post(path, json=body, headers=headers)
            except httpx.TransportError:  # it died: nobody knows what became of the request
                self.broken += 1
                continue
            self.progress.set()
            if answer.status_code == 200:
                response = from_text(answer.json()["response"], RESPONSE_BYTES)
                assert response is not None
                return self.rules.token(secret, response)
            if answer.status_code == 409:
                assert slug_of(answer) == "token-issued-already"
                return None
            assert answer.status_code == 503, answer.text
            await asyncio.sleep(_PAUSE)


@asynccontextmanager
async def asking(askers: Askers, urls: Sequence[str]) -> AsyncIterator[asyncio.Future[list[None]]]:
    """Let people ask; give what is done when it is over and each of them has their answers."""
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=60))
            for url in urls
        ]
        everything = asyncio.gather(*(askers.ask(servers) for _ in range(AT_ONCE)))
        try:
            yield everything
        finally:
            everything.cancel()
            await asyncio.gather(everything, return_exceptions=True)
