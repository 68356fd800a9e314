"""Baseline: the same framework and server, with a route that does nothing."""

import asyncio
import socket

import uvicorn
import uvloop
from litestar import Litestar, post


@post("/", status_code=202)
async def nothing() -> None:
    """Take a request and forget it."""


async def _serve(bound: socket.socket) -> None:
    config = uvicorn.Config(
        Litestar([nothing], openapi_config=None),
        loop="none",
        http="httptools",
        log_config=None,
        access_log=False,
        server_header=False,
    )
    await uvicorn.Server(config).serve(sockets=[bound])


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(listening))
