"""Requests that are answered without ASGI: small ones to the one route that gets most of them.

A task, a scope and two messages per request cost more than such a request itself. What is unusual
about a request, or does not arrive in one piece, goes through ASGI, with all of its limits.
"""

import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol

from blender_dp.server.bodies.threads import SHORT_BYTES

if TYPE_CHECKING:
    from blender_dp.server.connections import TimedConnection

Headers = Sequence[tuple[bytes, bytes]]
_LEFT_TO_ASGI = frozenset({b"content-encoding", b"transfer-encoding", b"expect", b"upgrade"})


class DirectRoute(Protocol):
    """A route that takes small requests without ASGI."""

    def find(self, url: bytes) -> "Take | None":
        """Return what answers requests to post there, now or later; None leaves them to ASGI."""
        ...


Take = Callable[["DirectRequest"], None]


class _NoEvent:
    """Nothing waits for it: the whole request is there."""

    def set(self) -> None:
        """Do nothing."""


class DirectRequest:
    """One request; the server's protocol sees it in place of its own cycle of an answer."""

    __slots__ = ("_connection", "began", "body", "disconnected", "keep_alive", "response_complete")
    message_event = _NoEvent()

    def __init__(self, connection: "TimedConnection", body: bytes) -> None:
        self._connection, self.body, self.began = connection, body, time.perf_counter()
        self.keep_alive, self.disconnected, self.response_complete = True, False, False

    def answer(self, status: int, rest: bytes) -> None:
        """Send an answer: its status, and its other bytes as :func:`answer_bytes` returns them."""
        self.response_complete = True
        if not self.disconnected:
            self._connection.send_answer(status, rest, keep_alive=self.keep_alive)


def is_small_json(headers: Headers) -> bool:
    """Tell whether headers announce a small body of JSON and nothing unusual."""
    is_small = is_json = False
    for name, value in headers:
        if name == b"content-length":
            is_small = value.isdigit() and int(value) <= SHORT_BYTES
        elif name == b"content-type":
            is_json = value == b"application/json"
        elif name in _LEFT_TO_ASGI:
            return False
    return is_small and is_json


def answer_bytes(headers: Headers, body: bytes) -> bytes:
    """Return an answer as it is sent after its beginning."""
    return _lines(headers) + b"\r\n" + body


def beginning_of_answer(status: int, server_headers: Headers, keep_alive: bool) -> bytes:
    """Return status line and the server's own headers."""
    first = b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode())
    last = b"" if keep_alive else b"connection: close\r\n"
    return first + _lines(server_headers) + last


def _lines(headers: Headers) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])
