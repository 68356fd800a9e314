"""A relay on this machine that keeps what devices hand to it, and forwards nothing."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from blender_dp.wire.reports.packed_items import to_text

LEAST_BATCH = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingRelay:
    """Where it listens, and what it was handed."""

    port: int
    taken: list[tuple[str, bytes]] = field(default_factory=list)
    """Path and body of every request that was not a question."""

    @property
    def address(self) -> str:
        """Where devices send their reports."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def described(self) -> dict[str, Any]:
        """The relay, as a campaign names it."""
        key = to_text(bytes(range(32)))
        return {"address": self.address, "public_key": key, "least_batch": LEAST_BATCH}


@contextmanager
def keeping_relay() -> Iterator[KeepingRelay]:
    """Take reports on a free port."""
    taken: list[tuple[str, bytes]] = []

    class Intake(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            taken.append((self.path, self.rfile.read(length)))
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Intake) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield KeepingRelay(port=server.server_port, taken=taken)
        server.shutdown()
        thread.join()
