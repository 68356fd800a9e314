"""Crowd: many requests, at most a given number at a time, repeated if the service is busy."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from blender_dp.client.patience import BUSY, Patience
from blender_dp.client.transport import (
    Answer,
    UnreachableError,
    headers,
    import_httpx,
    require_address,
    require_good,
)

if TYPE_CHECKING:
    import httpx

STUBBORN = Patience(attempts=200, longest_wait=30.0)
"""Patience of a simulated crowd: rate limits slow it down, because it has one address."""


class Crowd:
    """Devices that share a few connections to one service."""

    def __init__(self, url: str, client: "httpx.AsyncClient", patience: Patience) -> None:
        self._url, self._client, self._patience = url, client, patience
        self._transport_error = import_httpx().TransportError

    async def send(
        self, method: str, path: str, *, body: bytes | None = None, token: str | None = None
    ) -> Answer:
        """Send a request to a path below ``/v1/`` until it is answered."""
        attempt = 0
        while True:
            attempt += 1
            answer = await self._once(method, path, body, token)
            if answer is not None and answer.status not in BUSY:
                return require_good(answer)
            wait = self._patience.wait(attempt, answer.retry_after if answer else None)
            if wait is None:
                raise UnreachableError("the service stays busy or cannot be reached")
            await asyncio.sleep(wait)

    async def _once(
        self, method: str, path: str, body: bytes | None, token: str | None
    ) -> Answer | None:
        address = f"{self._url}/v1/{path}"
        try:
            response = await self._client.request(
                method, address, content=body, headers=headers(body, token)
            )
        except self._transport_error:
            return None
        return Answer(
            status=response.status_code,
            content=response.content,
            retry_after=response.headers.get("Retry-After"),
        )


@asynccontextmanager
async def gather_crowd(
    url: str, *, connections: int, patience: Patience = STUBBORN
) -> AsyncIterator[Crowd]:
    """Open ``connections`` connections to a service."""
    httpx: Any = import_httpx()
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    secure: ssl.SSLContext = httpx.create_ssl_context()
    async with httpx.AsyncClient(limits=limits, timeout=60.0, verify=secure) as client:
        yield Crowd(require_address(url), client, patience)


async def run_concurrently(
    works: Iterable[Callable[[], Awaitable[int]]], *, at_once: int, done: Callable[[int], None]
) -> int:
    """Run all works, some at the same time; the first failure ends all.

    Args:
        works: The works, made when needed; each returns its number of devices.
        at_once: Most works that run at the same time.
        done: Called with the number of devices that are done.
    """
    waiting, total = iter(works), 0

    async def work_on() -> None:
        nonlocal total
        for work in waiting:
            count = await work()  # awaited first: others change the total during the wait
            total += count
            done(total)

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work_on())
    return total
