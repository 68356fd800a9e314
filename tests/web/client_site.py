"""A site on this machine that uses the browser client, and the service that it reports to."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.wire.documents.times import read_time
from blender_dp.wire.service.hash_chain import PublicKind, entry
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from blender_dp.wire.service.signed_log import log_document

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}
"""Of programs that run on Node: .venv may hold it."""
SIGNED = json.loads((ROOT / "test_vectors" / "signed_head_list.json").read_text(encoding="utf-8"))
PAGE = "<!doctype html><meta charset=utf-8><title>A page with the client</title>"
WORKER = """
import { BlenderClient, LocalSearch, indexedDbStorage } from './client.js';
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('message', async (event) => {
  const { service, publicKey, campaign, release } = event.data;
  const client = new BlenderClient({ service, publicKey, storage: indexedDbStorage() });
  const reported = await client.report(campaign, null);
  const opened = release ? LocalSearch.open(release) : { ok: false };
  const found = opened.ok ? opened.search.suggest('wether') : [];
  event.source.postMessage({ reported, found });
});
"""


def built_client() -> bytes:
    """Build the client as it is published and return its one file."""
    if not (WEB / "node_modules").is_dir():
        pytest.skip("what is in web/ is not installed; run: make .make/web")
    subprocess.run(
        ["npm", "run", "--silent", "build", "--workspace=client"],
        cwd=WEB,
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
    )
    return (WEB / "client" / "dist" / "blender-dp-client.js").read_bytes()


def published() -> dict[str, Any]:
    """Return what a service publishes of the vectors' campaign and list, by path."""
    seed = hashlib.sha256(b"blender-dp test vector service").digest()
    key, campaign, good = (
        Ed25519PrivateKey.from_private_bytes(seed),
        SIGNED["campaign"],
        SIGNED["good"],
    )
    time = read_time(good["log_entry"]["time"])
    assert time is not None
    step = partial(entry, campaign=UUID(campaign), time=time)
    first = step(None, kind=PublicKind.CAMPAIGN, digest=good["description"])
    listed = step(first, kind=PublicKind.HEAD_LIST, digest=good["head_list"]["digest"])
    signed = signed_head_list_document(
        good["head_list"],
        listed,
        campaign=UUID(campaign),
        description=good["description"],
        key=key,
    )
    return {
        f"/v1/campaigns/{campaign}": {
            "state": "clients-open",
            "description": SIGNED["description"],
        },
        f"/v1/campaigns/{campaign}/head-list": signed,
        "/v1/log?from=0": log_document([first, listed], key),
    }


class ClientSite(ThreadingHTTPServer):
    """Serves the page, the client and a signed list; keeps the reports and all that was sent."""

    def __init__(self, client: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.reports: list[bytes] = []
        self.sent: list[str] = []
        self.files = {
            "/": ("text/html", PAGE.encode()),
            "/client.js": ("text/javascript", client),
            "/worker.js": ("text/javascript", WORKER.encode()),
            **{
                path: ("application/json", json.dumps(document).encode())
                for path, document in published().items()
            },
        }

    @property
    def address(self) -> str:
        """Where the site is; browsers take this host for a secure one."""
        return f"http://127.0.0.1:{self.server_port}"


class _Visit(BaseHTTPRequestHandler):
    server: ClientSite

    def do_GET(self) -> None:
        kind, content = self.server.files.get(self.path, ("text/plain", b""))
        self.server.sent.append(self.path)
        self._answer(200 if content else 404, kind, content)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.sent += [self.path, str(self.headers), body.decode()]
        self.server.reports.append(body)
        self._answer(202, "application/json", b'{"accepted":1,"repeated":0}')

    def _answer(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def running_site() -> Iterator[ClientSite]:
    """Serve the site as long as the block runs."""
    with ClientSite(built_client()) as site:
        thread = Thread(target=site.serve_forever, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            site.shutdown()
            thread.join()
