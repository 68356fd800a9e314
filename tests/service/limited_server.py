"""A real server with the limits of connections, in the event loop of the test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from blender_dp.server.connections import ConnectionLimits

PATIENCE = 60.0
"""Seconds until a test gives up."""


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def started(
    app: Any, limits: ConnectionLimits, **options: Any
) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    """Yield a server of an ASGI application, and its port."""
    config = uvicorn.Config(
        app,
        port=0,
        http=limits.protocol(),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_keep_alive=limits.idle_seconds,
        **options,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve())  # leaves signals alone
    await until(lambda: server.started)
    try:
        yield server, server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running
