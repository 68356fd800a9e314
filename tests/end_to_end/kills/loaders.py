"""Clients that never give a report up, or do so once in a while, while the service dies."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count, cycle

import httpx
from end_to_end.kills.books import Books, Upload

SIZES = (1, 1, 1, 1, 150, 400)
"""How many reports each loader puts into a request."""
_GIVES_UP = 10
"""Of so many requests that fail, one is not sent again."""
_PAUSE = 0.02
"""Seconds that a client waits which was told to come again."""


@dataclass(slots=True)
class Load:
    """Loaders at work, and what they saw."""

    books: Books
    campaign: str
    goal: int = sys.maxsize
    """How many reports must be acknowledged before they rest; lowered when the killing is over."""
    broken: int = 0
    """Requests during which the service died."""
    given_up: int = 0
    refused: int = 0
    progress: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at every acknowledgement."""

    async def load(self, http: httpx.AsyncClient, size: int) -> None:
        """Send requests of one size until enough was acknowledged by all together."""
        while len(self.books.acknowledged) < self.goal:
            upload = self.books.upload(size)
            if await self._sent(http, upload):
                self.books.acknowledged.update(upload.ids)
                self.progress.set()

    async def _sent(self, http: httpx.AsyncClient, upload: Upload) -> bool:
        path = f"/v1/campaigns/{self.campaign}/reports"
        for attempt in count():
            try:
                answer = await http.post(path, content=upload.body)
            except httpx.TransportError:  # it died: nobody knows what became of the request
                self.broken += 1
            else:
                if answer.status_code == 202:
                    added = answer.json()
                    assert added["accepted"] + added["repeated"] == len(upload.ids)
                    assert attempt or not added["repeated"]
                    return True
                assert answer.status_code == 503, answer.text
                assert int(answer.headers["retry-after"]) > 0
                self.refused += 1
                await asyncio.sleep(_PAUSE)
            if (self.broken + self.refused) % _GIVES_UP == 0:
                self.given_up += 1
                return False
        raise AssertionError


@asynccontextmanager
async def loading(load: Load, urls: Sequence[str]) -> AsyncIterator[asyncio.Future[list[None]]]:
    """Run loaders, shared among services; give what is done when enough is acknowledged."""
    headers = {"content-type": "application/json"}
    clients = [httpx.AsyncClient(base_url=url, headers=headers, timeout=60) for url in urls]
    loaders = [load.load(http, size) for size, http in zip(SIZES, cycle(clients), strict=False)]
    everything = asyncio.gather(*loaders)
    try:
        yield everything
    finally:
        everything.cancel()
        await asyncio.gather(everything, return_exceptions=True)
        for client in clients:
            await client.aclose()
