"""Connections with time limits, and with a limit on how many are open.

The server's own protocol has no time limit for a request's first line, for the rest of its headers
and for the client to read the answer. Here each of these has one. When too many connections are
open, the one without a request for the longest time is closed for a new one, so that idle
connections do not block new clients.
"""

import asyncio
import ctypes
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from blender_dp.server.direct_requests import (
    DirectRequest,
    DirectRoute,
    Headers,
    Take,
    beginning_of_answer,
    is_small_json,
)
from blender_dp.server.event_log import EventLog
from blender_dp.server.problems import RETRY_SECONDS

MOST_CONNECTIONS = 10_000
"""Most connections open at once in one process."""
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n"
    b"retry-after: %d\r\n\r\n" % RETRY_SECONDS
)
RESERVED = 512
"""Descriptors for everything but connections: the database, keys, files, other processes."""
_FEWEST_CONNECTIONS = 64
FLOOD = 1_000
"""Number of open connections above which their memory is returned to the system afterwards."""
_WARN_SHARE = 0.8
_WARN_SECONDS = 60.0


@dataclass(slots=True, kw_only=True)
class ConnectionLimits:
    """How many connections a process has, and how long each may wait."""

    event_log: EventLog
    direct: DirectRoute | None = None
    """A route whose small requests are answered without ASGI."""
    most: int = MOST_CONNECTIONS
    header_seconds: float = 20.0
    """Time from the opening, or from the first byte after an answer, to the end of the headers."""
    idle_seconds: int = 5
    """Time from an answer to the first byte of the next request."""
    write_seconds: float = 60.0
    """Time for a client to read its answer."""
    waiting: "OrderedDict[TimedConnection, None]" = field(default_factory=OrderedDict)
    """Connections without a request, the one that waits longest first."""
    _warned: float = float("-inf")
    _most_open: int = 0
    """Connections open at once since freed memory was last returned."""
    _server_headers: Headers = ()
    _beginnings: dict[tuple[int, bool], bytes] = field(default_factory=dict)
    """Beginnings of answers with these headers."""

    def protocol(self) -> type[HttpToolsProtocol]:
        """Return the protocol class that the server creates for each connection."""
        return type("LimitedConnection", (TimedConnection,), {"limits": self})

    def warn_if_many(self, count: int) -> None:
        """Write a line when most of the limit is used, at most once in a minute."""
        self._most_open = max(self._most_open, count)
        if count < _WARN_SHARE * self.most or time.monotonic() < self._warned + _WARN_SECONDS:
            return
        self._warned = time.monotonic()
        self.event_log.write("many-connections", open=count, limit=self.most)

    def beginning(self, status: int, server_headers: Headers, *, keep_alive: bool) -> bytes:
        """Return how an answer begins; kept until uvicorn makes new headers, once per second."""
        if server_headers is not self._server_headers:
            self._server_headers = server_headers
            self._beginnings.clear()
        key = (status, keep_alive)
        found = self._beginnings.get(key)
        if found is None:
            found = self._beginnings[key] = beginning_of_answer(status, server_headers, keep_alive)
        return found

    def is_flood_over(self, count: int) -> bool:
        """Tell, once per halving, whether half of many connections are closed."""
        if self._most_open < FLOOD or 2 * count > self._most_open:
            return False
        self._most_open = count
        return True


def return_freed_memory() -> None:
    """Return freed memory to the system. Only glibc offers this; it keeps the memory otherwise."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class TimedConnection(HttpToolsProtocol):
    """One connection with time limits; its subclasses set the limits."""

    limits: ClassVar[ConnectionLimits]
    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _take: Take | None = None
    """What takes the request that arrives, if it need not go through ASGI."""
    _body = b""
    """As much of its body as has arrived."""

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - of either event loop
        """Begin to wait for a request, or close if too many other connections are busy."""
        super().connection_made(transport)
        self.limits.warn_if_many(len(self.connections))
        if len(self.connections) > self.limits.most and not self._make_room():
            transport.write(_REFUSAL)
            transport.close()
            self._end_if_unread()
            return
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        self._stop_write_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        if self.limits.is_flood_over(len(self.connections)):
            self.loop.run_in_executor(None, return_freed_memory)

    def data_received(self, data: bytes) -> None:
        """Read bytes; start the header time limit unless a request is being answered."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._take is not None:
            self._leave_to_asgi()
        if not self._has_request:
            self._wait_for_headers()

    def on_message_begin(self) -> None:
        """Begin to read a request; what ASGI is told of it is made only if it goes there."""
        self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_headers_complete(self) -> None:
        """Begin to answer; from here on the limits of the body apply."""
        self._stop_waiting()
        self._take = self._find_direct()
        if self._take is None:
            self._begin_asgi()

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body."""
        if self._take is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        """Pass on a whole request."""
        take, self._take = self._take, None
        if take is None:
            super().on_message_complete()
            return
        request, self._body = DirectRequest(self, self._body), b""
        self.cycle = request  # type: ignore[assignment]  # the protocol uses what it has
        take(request)

    def send_answer(self, status: int, rest: bytes, *, keep_alive: bool) -> None:
        """Answer a request that did not go through ASGI."""
        if self.transport.is_closing():
            return
        headers = self.server_state.default_headers
        beginning = self.limits.beginning(status, headers, keep_alive=keep_alive)
        self.transport.write(beginning + rest)
        if not keep_alive:
            self.transport.close()
        self.on_response_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self._has_request:
            self.limits.waiting[self] = None
            self._end_if_unread()

    def pause_writing(self) -> None:
        """Start the time limit for the client to read."""
        super().pause_writing()
        self._end_if_unread()

    def resume_writing(self) -> None:
        """Stop the time limit: the client reads again."""
        super().resume_writing()
        self._stop_write_timer()

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection."""
        super().timeout_keep_alive_handler()
        self._end_if_unread()

    def _find_direct(self) -> Take | None:
        direct = self.limits.direct
        take = None if direct is None else direct.find(self.url)
        is_usual = (
            take is not None
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and self.parser.should_keep_alive()
            and not self._has_request
            and not self.flow.write_paused
            and is_small_json(self.headers)
        )
        return take if is_usual else None

    def _leave_to_asgi(self) -> None:
        """Let ASGI go on with a request whose body did not come with its headers."""
        body, self._take, self._body = self._body, None, b""
        self._begin_asgi()
        if body:
            super().on_body(body)

    def _begin_asgi(self) -> None:
        """Begin what the server itself does with a request."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers += headers  # in place: the scope has this list
        super().on_headers_complete()

    @property
    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_headers(self) -> None:
        self.limits.waiting.setdefault(self)
        if self._header_timer is None:
            seconds = self.limits.header_seconds
            self._header_timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        self.limits.waiting.pop(self, None)
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _end_if_unread(self) -> None:
        """Close the connection later if its client does not read the answer."""
        if self._write_timer is None and self.transport.get_write_buffer_size():
            seconds = self.limits.write_seconds
            self._write_timer = self.loop.call_later(seconds, self._abort_if_unread)

    def _abort_if_unread(self) -> None:
        self._write_timer = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _make_room(self) -> bool:
        """End the connection that waits longest; return whether there was one."""
        if not self.limits.waiting:
            return False
        oldest, _ = self.limits.waiting.popitem(last=False)
        oldest.transport.abort()
        return True


def connection_limit(event_log: EventLog) -> int:
    """Return how many connections this process can have; first raise its limit if allowed.

    A process that runs out of descriptors can open neither connections nor its own files, so
    connections are kept below the limit, and a low limit is logged at the start.
    """
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return MOST_CONNECTIONS
    wanted = MOST_CONNECTIONS + RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MOST_CONNECTIONS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed >= wanted:
        return MOST_CONNECTIONS
    limit = max(allowed - RESERVED, _FEWEST_CONNECTIONS)
    event_log.write("few-descriptors", allowed=allowed, wanted=wanted, connections=limit)
    return limit
