"""Floor: the cheapest program that stores reports durably, for the processor time it needs.

HTTP is read by httptools in uvloop's thread, without ASGI. Each body is decoded, nothing in it is
checked or counted, and its id goes into a table of unique ids. Groups are as large as the service's
under the same load, and each is on disk before it is answered. There is no other thread: the loop
waits for the disk, which costs time but no processor time.

python -m benchmarks.service.cheapest DATABASE
"""

import asyncio
import base64
import socket
import sqlite3
import sys

import httptools
import msgspec
import uvloop

GROUP = 62
"""Reports of one transaction, as the service has them with 64 connections."""
_LINGER_SECONDS = 0.004
"""Longest wait for a full group."""
_ANSWER = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"


class _Report(msgspec.Struct, gc=False):
    """What is read of a report."""

    report_id: str
    items: str = ""
    cell: int = 0


class _Group:
    """Bodies that wait for the next transaction."""

    def __init__(self, database: str) -> None:
        self._connection = sqlite3.connect(database, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA wal_autocheckpoint = 16384")
        self._connection.execute("CREATE TABLE ids (id BLOB PRIMARY KEY) WITHOUT ROWID")
        self._decode = msgspec.json.Decoder(_Report).decode
        self._waiting: list[tuple[asyncio.Transport, bytes]] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, transport: asyncio.Transport, body: bytes) -> None:
        """Add a body; store and answer the group if it is full."""
        self._waiting.append((transport, body))
        if len(self._waiting) >= GROUP:
            self._store()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._store)

    def _store(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group, self._waiting = self._waiting, []
        texts = [self._decode(body).report_id for _, body in group]
        ids = sorted([(base64.urlsafe_b64decode(text + "=="),) for text in texts])
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT OR IGNORE INTO ids VALUES (?)", ids)
        self._connection.execute("COMMIT")
        for transport, _ in group:
            transport.write(_ANSWER)


class _Connection(asyncio.Protocol):
    """One connection; it trusts its client."""

    def __init__(self, group: _Group) -> None:
        self._group, self._body = group, b""
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        body, self._body = self._body, b""
        self._group.add(self._transport, body)


async def _serve(bound: socket.socket, database: str) -> None:
    group = _Group(database)
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(group), sock=bound)
    await server.serve_forever()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        uvloop.run(_serve(listening, sys.argv[1]))
