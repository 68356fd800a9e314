"""Connections that say nothing, too little or read nothing end, and keep nobody out."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from service.limited_server import PATIENCE, started, until
from service.running import START

from blender_dp.server.connections import (
    FLOOD,
    ConnectionLimits,
    return_freed_memory,
)
from blender_dp.server.event_log import EventLog

pytestmark = pytest.mark.anyio
_SHORT, _LONG = 0.2, 600.0
_LARGE = b"x" * (1 << 25)
"""More than the buffers of a loopback connection take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    port: int
    state: Any
    limits: ConnectionLimits
    log: io.StringIO
    go_on: asyncio.Event
    """Until it is set, requests to /wait wait."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def connect(self, content: bytes = b"") -> tuple[asyncio.StreamReader, Any]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(content)
        return reader, writer


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[Server]:
    go_on, log = asyncio.Event(), io.StringIO()
    times = {"header_seconds": _LONG, "write_seconds": _LONG, **options}
    limits = ConnectionLimits(event_log=EventLog(lambda: START, log), **times)

    async def app(scope: Any, _receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        if scope["path"] == "/wait":
            await go_on.wait()
        body = _LARGE if scope["path"] == "/large" else b"ok"
        headers = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async with started(app, limits, timeout_graceful_shutdown=1) as (server, port):
        state = server.server_state
        try:
            yield Server(port=port, state=state, limits=limits, log=log, go_on=go_on)
        finally:
            go_on.set()


async def is_ended(reader: asyncio.StreamReader) -> bool:
    """Wait for the end of a connection; return whether it came."""
    async with asyncio.timeout(PATIENCE):
        try:
            while await reader.read(1 << 16):
                pass
        except ConnectionError:
            pass
        return True


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET",
        b"GET / HTTP/1.1\r\nhost: a",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n",
    ],
    ids=["nothing", "a method", "half a header", "a body that nobody wants"],
)
async def test_a_request_that_never_comes_whole_ends_its_connection(beginning: bytes) -> None:
    async with serving(header_seconds=_SHORT, idle_seconds=600) as server:
        reader, writer = await server.connect(beginning)
        ended = asyncio.create_task(is_ended(reader))
        while not ended.done():  # a byte at a time, so that the connection is never quiet
            if beginning:
                writer.write(b"x")
            await asyncio.sleep(0.02)
        assert ended.result()
        await until(lambda: not server.state.connections)
        assert not server.limits.waiting
        writer.close()


async def test_a_connection_is_used_again() -> None:
    async with serving(idle_seconds=600) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as http:
            for _ in range(5):
                assert (await http.get("/")).text == "ok"
            assert len(server.state.connections) == 1
        assert server.state.total_requests == 5


async def test_an_idle_connection_ends() -> None:
    async with serving(idle_seconds=1) as server:
        reader, writer = await server.connect(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert await is_ended(reader)
        await until(lambda: not server.state.connections)
        assert not server.limits.waiting
        writer.close()


async def test_an_answer_that_nobody_reads_ends_its_connection() -> None:
    async with serving(write_seconds=_SHORT, idle_seconds=600) as server:
        reader, writer = await server.connect()
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # as a client that hangs
        writer.write(b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n")
        await until(lambda: server.state.total_requests > 0 or bool(server.state.tasks))
        await until(lambda: not server.state.connections)
        writer.transport.abort()


async def test_idle_connections_make_room_for_others() -> None:
    async with serving(most=20) as server:
        idle = [await server.connect(b"GET / HT" * (number % 2)) for number in range(60)]
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as http:
            for _ in range(3):
                assert (await http.get("/")).text == "ok"
            await until(lambda: len(server.state.connections) <= 20)
        assert await is_ended(idle[0][0])
        lines = [json.loads(line) for line in server.log.getvalue().splitlines()]
        assert {(line["event"], line["limit"]) for line in lines} == {("many-connections", 20)}
        for _, writer in idle:
            writer.transport.abort()
        await until(lambda: not server.state.connections)
        assert not server.limits.waiting


async def test_where_all_are_at_work_a_new_one_is_asked_to_come_later() -> None:
    request = b"GET /wait HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
    async with serving(most=2) as server:
        busy = [await server.connect(request) for _ in range(2)]
        await until(lambda: len(server.state.tasks) == 2)
        reader, writer = await server.connect(request)
        async with asyncio.timeout(PATIENCE):
            answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nretry-after: " in answer
        server.go_on.set()
        for reader, _ in busy:
            async with asyncio.timeout(PATIENCE):
                assert (await reader.read()).endswith(b"ok")
        for _, other in (*busy, (None, writer)):
            other.close()


def test_freed_memory_is_returned_when_a_flood_is_over() -> None:
    limits = ConnectionLimits(event_log=EventLog(lambda: START, io.StringIO()))
    for count in range(1, 2 * FLOOD + 1):
        limits.warn_if_many(count)
    returned = [count for count in reversed(range(2 * FLOOD)) if limits.is_flood_over(count)]
    assert returned == [FLOOD, FLOOD // 2]
    return_freed_memory()


def test_few_connections_return_no_memory() -> None:
    limits = ConnectionLimits(event_log=EventLog(lambda: START, io.StringIO()))
    limits.warn_if_many(FLOOD - 1)
    assert not any(limits.is_flood_over(count) for count in reversed(range(FLOOD - 1)))
