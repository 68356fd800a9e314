"""Baseline: an ASGI application on the same server that takes a request and does nothing."""

import asyncio
import socket
from typing import Any

import uvicorn
import uvloop

_HEADERS = [(b"content-length", b"0")]


async def nothing(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
    """Read a request and answer without a body."""
    assert scope["type"] == "http"
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 202, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": b""})


async def _serve(bound: socket.socket) -> None:
    config = uvicorn.Config(
        nothing,
        loop="none",
        http="httptools",
        lifespan="off",
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
