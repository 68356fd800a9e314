"""A way to a server that records every byte on it, and the requests in these bytes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request as it was sent."""

    order: int
    """When it was complete, compared with other requests."""
    line: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class RecordedWay:
    """Connections to one server, with all that went to it."""

    target: tuple[str, int]
    url: str = ""
    sent: list[list[tuple[int, bytes]]] = field(default_factory=list)
    """For every connection the pieces that were sent to the server, numbered in their order."""
    _numbers: "count[int]" = field(default_factory=count)

    def all_bytes(self) -> bytes:
        """Return everything that was sent to the server."""
        return b"".join(piece for connection in self.sent for _, piece in connection)

    def requests(self) -> list[Request]:
        """Return the requests, in the order in which they were complete."""
        found = [one for connection in self.sent for one in _requests_of(connection)]
        return sorted(found, key=lambda request: request.order)

    def carry(self, client: socket.socket) -> None:
        """Carry bytes both ways until both sides are done."""
        pieces: list[tuple[int, bytes]] = []
        self.sent.append(pieces)
        with client, suppress(OSError), socket.create_connection(self.target) as server:
            answers = threading.Thread(target=_pump, args=(server, client), daemon=True)
            answers.start()
            while piece := client.recv(1 << 16):
                pieces.append((next(self._numbers), piece))
                server.sendall(piece)
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)
            answers.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)


def _requests_of(pieces: list[tuple[int, bytes]]) -> Iterator[Request]:
    rest, ends = b"".join(piece for _, piece in pieces), list[tuple[int, int]]()
    for number, piece in pieces:
        ends.append(((ends[-1][0] if ends else 0) + len(piece), number))
    done = 0
    while rest:
        head, found, after = rest.partition(b"\r\n\r\n")
        assert found, "a request was cut off"
        line, *lines = head.decode("ascii").split("\r\n")
        headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in lines)}
        assert "transfer-encoding" not in headers
        length = int(headers.get("content-length", "0"))
        done += len(head) + len(found) + length
        order = next(number for end, number in ends if end >= done)
        yield Request(order=order, line=line, headers=headers, body=after[:length])
        rest = after[length:]


@contextmanager
def recorded_way(url: str) -> Iterator[RecordedWay]:
    """Listen on another port and carry everything to the server at an address."""
    host, port = url.removeprefix("http://").rstrip("/").split(":")
    way = RecordedWay((host, int(port)))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        way.url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    threading.Thread(target=way.carry, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield way
