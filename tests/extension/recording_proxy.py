"""A proxy that writes down every byte a browser sends: what was not sent is not in there."""

import base64
import hashlib
import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import quote, quote_plus, urlsplit

_PIECE = 1 << 16
_OWN = re.compile(r"127\.0\.0\.1|\w+\.example")
"""What is served here; other hosts are not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request as it left the browser."""

    host: str
    port: int
    head: bytes
    body: bytes

    @property
    def content(self) -> bytes:
        """The whole request."""
        return self.head + self.body

    @property
    def line(self) -> str:
        """Method and address."""
        return self.head.split(b"\r\n", 1)[0].decode()


@dataclass(slots=True)
class Recorder:
    """Everything that one browser sent."""

    address: str
    requests: list[Sent] = field(default_factory=list)
    is_cut: bool = False
    """Whether nothing is passed on: a browser that has no other way out is offline, all of it."""

    def to(self, port: int) -> list[Sent]:
        """Return what was sent to one server of the test."""
        return [one for one in self.requests if one.port == port]

    def naming(self, text: str) -> list[Sent]:
        """Return the requests that hold a text, in any of its spellings."""
        wanted = spellings(text)
        return [one for one in self.requests if any(word in one.content.lower() for word in wanted)]


def spellings(text: str) -> list[bytes]:
    """Return how a text may be written in a request, in lower case."""
    raw = text.encode()
    words = {raw, quote(text, safe="").encode(), quote(text).encode(), quote_plus(text).encode()}
    words |= {
        raw.hex().encode(),
        text.encode("utf-16-le"),
        hashlib.sha256(raw).hexdigest().encode(),
    }
    for skipped in range(3):
        # In the middle of a text, base64 begins at any of three places; its ends are cut off.
        inside = base64.b64encode(b"\0" * skipped + raw)[4:-4]
        words |= {inside, inside.translate(bytes.maketrans(b"+/", b"-_"))}
    digest = base64.b64encode(hashlib.sha256(raw).digest())[:40]
    words |= {digest, digest.translate(bytes.maketrans(b"+/", b"-_"))}
    return [word.lower() for word in words]


@contextmanager
def recording_proxy() -> Iterator[Recorder]:
    """Run a proxy on a free port of this machine."""
    with _Server(("127.0.0.1", 0), _Connection) as server:
        server.recorder = Recorder(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.recorder
        server.shutdown()
        thread.join()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    recorder: Recorder


class _Connection(socketserver.StreamRequestHandler):
    """One request a connection: the browser opens another for the next."""

    def handle(self) -> None:
        try:
            self._pass_on()
        except OSError:
            return  # the browser went away

    def _pass_on(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b"\r\n":
            if not line:
                return  # a connection that was opened ahead and not used
            lines.append(line)
        if not lines:
            return
        headers = dict(_header(line) for line in lines[1:])
        body = self.rfile.read(int(headers.get("content-length", "0")))
        method, target, _ = lines[0].decode().split(" ", 2)
        url = urlsplit(target if "://" in target else f"//{target}")
        sent = Sent(
            host=url.hostname or "",
            port=url.port or 80,
            head=b"".join([*lines, b"\r\n"]),
            body=body,
        )
        recorder = cast("_Server", self.server).recorder
        recorder.requests.append(sent)
        if recorder.is_cut:
            return
        if method == "CONNECT" or not _OWN.fullmatch(sent.host):
            self.wfile.write(
                b"HTTP/1.1 502 Nowhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        place = (url.path or "/") + (f"?{url.query}" if url.query else "")
        kept = [line for line in lines[1:] if _header(line)[0] not in _OF_THE_PROXY]
        first = f"{method} {place} HTTP/1.1\r\n".encode()
        self._relay(sent, b"".join([first, *kept, b"Connection: close\r\n\r\n", body]))

    def _relay(self, sent: Sent, request: bytes) -> None:
        try:
            upstream = socket.create_connection(("127.0.0.1", sent.port), timeout=30)
        except OSError:
            self.wfile.write(
                b"HTTP/1.1 502 Nowhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        with upstream:
            upstream.sendall(request)
            while piece := upstream.recv(_PIECE):
                self.wfile.write(piece)


_OF_THE_PROXY = ("proxy-connection", "connection")


def _header(line: bytes) -> tuple[str, str]:
    name, _, value = line.decode("latin-1").partition(":")
    return name.strip().lower(), value.strip()
