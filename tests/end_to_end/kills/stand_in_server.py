"""Server for what stands in for another organisation, in the test's own event loop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn


class StandInApp:
    """Application that answers by a function, which httpx takes for a transport too."""

    def __init__(self, answer: Callable[[httpx.Request], httpx.Response]) -> None:
        self._answer = answer

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        headers = [(name.decode(), value.decode()) for name, value in scope["headers"]]
        request = httpx.Request("GET", f"http://here{scope['path']}", headers=headers)
        answer = self._answer(request)
        headers = [(b"content-type", b"application/json")]
        await send(
            {"type": "http.response.start", "status": answer.status_code, "headers": headers}
        )
        await send({"type": "http.response.body", "body": answer.content})


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    """Serve an application in this loop."""
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
