"""Clients of a service, honest and hostile, in a process of their own.

``python -m benchmarks.attack.senders KIND URL CONNECTIONS SECONDS [BODIES]`` prints ``ready`` once
its connections are open and, at the end, what was answered as JSON.
"""

import asyncio
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

_INFLATED = 32 * 2**20
"""Bytes to which the bomb inflates: as many as the service accepts."""
_AT_ONCE = 256
"""Connections that are opened at a time: fewer than wait in the listening socket's queue."""
_BROKEN = "broken"


def bomb() -> bytes:
    """Return some 32 kB of gzip that inflate to 11 million empty reports."""
    begin, one, end = b'{"reports":[', b"{},", b"{}]}"
    count = (_INFLATED - len(begin) - len(end)) // len(one)
    return gzip.compress(begin + one * count + end)


@dataclass(slots=True, kw_only=True)
class Senders:
    """Clients of one address until a point in time."""

    url: str
    connections: int
    seconds: float
    answers: Counter[str] = field(default_factory=Counter)
    opened: int = 0
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection, some hundred of them at a time."""
        address = urlsplit(self.url)
        async with self._slots:
            found = await asyncio.open_connection(address.hostname, address.port)
        self.opened += 1
        return found

    async def run(self, one: Callable[[], Awaitable[None]]) -> None:
        """Let every connection do ``one`` again and again, until the time is up."""

        async def again() -> None:
            while True:
                try:
                    await one()
                except (OSError, EOFError, ValueError):
                    self.answers[_BROKEN] += 1
                    await asyncio.sleep(0.05)

        tasks = [asyncio.create_task(again()) for _ in range(self.connections)]
        while self.opened < self.connections:
            await asyncio.sleep(0.05)
        print("ready", flush=True)
        self.answers.clear()  # what counts is what happens while all are there
        began = time.monotonic()
        await asyncio.sleep(self.seconds)
        lasted = time.monotonic() - began
        answers = dict(self.answers)
        print(json.dumps({"seconds": lasted, "answers": answers, "opened": self.opened}))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def head(self, headers: str, length: int) -> bytes:
        """Return the head of a request with a body of this many bytes."""
        address = urlsplit(self.url)
        return (
            f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Content-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n"
        ).encode()

    async def exchange(self, requests: Iterator[bytes]) -> None:
        """Send requests over one connection, each when the last is answered."""
        reader, writer = await self.connect()
        try:
            for request in requests:
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length or b"0"))
                self.answers[head[9:12].decode()] += 1
        finally:
            writer.close()

    async def hold(self, beginning: bytes, drop: bytes = b"") -> None:
        """Begin a request, or none, and keep the service waiting until it ends the connection."""
        reader, writer = await self.connect()
        try:
            writer.write(beginning)
            reading = asyncio.create_task(reader.read())
            while drop and not reading.done():
                await asyncio.wait({reading}, timeout=1.0)
                writer.write(drop)
            await reading
            self.answers["ended"] += 1
        finally:
            with suppress(OSError):
                writer.close()


async def send(kind: str, senders: Senders, bodies: Path | None) -> None:
    """Send what this kind of client sends."""
    if kind == "honest":
        assert bodies is not None
        lines = bodies.read_bytes().splitlines()
        requests = cycle([senders.head("", len(line)) + line for line in lines])
        await senders.run(lambda: senders.exchange(requests))
    elif kind == "bombs":
        body = bomb()
        request = senders.head("Content-Encoding: gzip\r\n", len(body)) + body
        await senders.run(lambda: senders.exchange(cycle([request])))
    elif kind == "idle":
        await senders.run(lambda: senders.hold(b""))
    elif kind == "half-open":
        await senders.run(lambda: senders.hold(senders.head("", 100)[:40]))
    else:  # slow
        await senders.run(lambda: senders.hold(senders.head("", 60_000), b" "))


def main() -> None:
    """Read the arguments and send."""
    kind, url, connections, seconds, *bodies = sys.argv[1:]
    senders = Senders(url=url, connections=int(connections), seconds=float(seconds))
    uvloop.run(send(kind, senders, Path(bodies[0]) if bodies else None))


if __name__ == "__main__":
    main()
