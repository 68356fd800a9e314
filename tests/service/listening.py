"""A service behind a real server on loopback, in a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from service.running import Service, running

from blender_dp.server.connections import ConnectionLimits

_WAIT = 60.0


class Listening:
    """The server's address, and a way to do things in its event loop."""

    def __init__(self) -> None:
        self.url = ""
        self.service: Service | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None

    def do(self, work: Callable[[Service], Awaitable[Any]]) -> Any:
        """Await something in the service's own loop."""
        assert self.service is not None
        assert self._loop is not None

        async def done() -> Any:
            assert self.service is not None
            return await work(self.service)

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(_WAIT)

    async def _serve(self, directory: Path, **options: Any) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with running(directory, **options) as self.service:
            app: Any = self.service.http._transport.app  # type: ignore[attr-defined]  # httpx keeps it
            limits = ConnectionLimits(event_log=app.service.event_log, direct=app.reports)
            config = uvicorn.Config(
                app,
                port=0,
                http=limits.protocol(),
                ws="none",
                log_config=None,
                access_log=False,
                lifespan="off",
            )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server._serve())  # leaves signals alone
            while not server.started:
                await asyncio.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            self.url = f"http://127.0.0.1:{port}"
            self._ready.set()
            await self._stop.wait()
            server.should_exit = True
            await serving

    def _run(self, directory: Path, **options: Any) -> None:
        try:
            asyncio.run(self._serve(directory, **options))
        except BaseException as error:  # noqa: BLE001 - told to the test, which waits
            self._failure = error
            self._ready.set()

    def _end(self) -> None:
        if self._loop is not None and self._stop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._stop.set)


@contextmanager
def listening(directory: Path, **options: Any) -> Iterator[Listening]:
    """Serve until the block ends."""
    server = Listening()
    thread = threading.Thread(target=server._run, args=(directory,), kwargs=options)
    thread.start()
    try:
        assert server._ready.wait(_WAIT)
        if server._failure is not None:
            raise server._failure
        yield server
    finally:
        server._end()
        thread.join(_WAIT)
