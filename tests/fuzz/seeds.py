"""Documents that every decoder accepts: fuzzing starts from them and changes them."""

import base64
import hashlib
import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from blender_dp.wire.relayed.encrypted_report import (
    relayed_report_document,
    relayed_reports_document,
)
from blender_dp.wire.service.hash_chain import PublicKind, entry
from blender_dp.wire.service.signed_log import log_document

ROOT = Path(__file__).parents[2]
PRESETS = ("sharp", "paper")
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
RELAY_KEY = Ed25519PrivateKey.from_private_bytes(
    hashlib.sha256(b"blender-dp test vector relay").digest()
)
COLLECTOR_KEY = X25519PrivateKey.from_private_bytes(
    hashlib.sha256(b"blender-dp test vector collector").digest()
)
REPORT_LENGTH = 66


@dataclass(frozen=True, slots=True)
class Seeds:
    """A folder with what ``run`` and the single steps write of one small log."""

    directory: Path

    def file(self, preset: str, name: str) -> bytes:
        """Return a file as it was written."""
        return (self.directory / preset / name).read_bytes()

    def both(self, name: str) -> list[bytes]:
        """Return a file of either preset."""
        return [self.file(preset, name) for preset in PRESETS]

    def report_bodies(self, preset: str) -> list[bytes]:
        """Return a single report and a batch as a service takes them."""
        lines = self.file(preset, "reports.jsonl").splitlines()[:3]
        reports = [json.loads(line) for line in lines]
        with_ids = [
            report | {"report_id": base64.urlsafe_b64encode(bytes([i]) * 16).decode().rstrip("=")}
            for i, report in enumerate(reports)
        ]
        shared = ("version", "head_list", "mechanism")
        own = [{k: v for k, v in report.items() if k not in shared} for report in with_ids]
        batch = {name: with_ids[0][name] for name in shared} | {"reports": own}
        return [_written(with_ids[0]), _written(batch)]


def logs() -> list[bytes]:
    """Return a signed log of three entries, and one without any."""
    entries: list[dict[str, Any]] = []
    for number, kind in enumerate(PublicKind):
        entries.append(
            entry(
                entries[-1] if entries else None,
                kind=kind,
                campaign=UUID(int=1),
                digest="sha256:" + f"{number:064x}",
                time=datetime(2026, 11, 16, 10, 0, number, tzinfo=UTC),
            )
        )
    return [_written(log_document(entries, KEY)), _written(log_document([], KEY))]


def signed_lists() -> list[bytes]:
    """Return the lists of the shared vectors, without and with a relay."""
    vectors = json.loads((ROOT / "test_vectors" / "signed_head_list.json").read_bytes())
    return [_written(vectors["good"]), _written(relay_vectors()["signed_head_list"])]


@cache
def relay_vectors() -> dict[str, Any]:
    """Return the shared vectors of relays."""
    vectors: dict[str, Any] = json.loads(
        (ROOT / "test_vectors" / "relayed_reports.json").read_bytes()
    )
    return vectors


@cache
def relayed_reports() -> list[bytes]:
    """Return encrypted reports that a collector counts."""
    texts = [report["encrypted"] for report in relay_vectors()["reports"]]
    return [base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) for text in texts]


def relay_bodies() -> list[bytes]:
    """Return a single encrypted report and a batch as a relay takes them."""
    signed, found = relay_vectors()["signed_head_list"], relayed_reports()
    shared = signed["head_list"]["digest"], signed["relay"]["encryption_key"]
    one = relayed_report_document(*shared, found[0])
    return [_written(one), _written(relayed_reports_document(*shared, found))]


def relay_documents(kind: str) -> list[bytes]:
    """Return the good statements or pieces of the shared vectors."""
    return [_written(case["document"]) for case in relay_vectors()[kind] if case["is_good"]]


def contributions() -> list[bytes]:
    """Return what an opt-in user uploads."""
    consent = {
        "version": "1",
        "text_digest": "sha256:" + 64 * "0",
        "given_at": "2026-11-16T10:00:00Z",
    }
    records = [{"query": "weather", "url": "weather.example"}, {"query": "é", "url": "😀"}]
    return [_written({"version": 1, "consent": consent, "records": records})]


def campaigns() -> list[bytes]:
    """Return what an operator posts to make a campaign."""
    body = {
        "name": "a name",
        "purpose": "a purpose",
        "controller": "A town library",
        "contact": "privacy@library.example",
        "privacy_policy": "https://library.example/privacy",
        "consent": {"version": "1", "text": "I agree."},
        "parameters": {"epsilon": 1.0, "delta": 1e-6, "preset": "sharp"},
        "expected_clients": 1000,
        "open_enrolment": True,
        "rules": {"clients_enough": 100, "clients_until": "2027-01-01T00:00:00Z"},
    }
    return [_written(body)]


def compressed() -> list[bytes]:
    """Return bodies that came as gzip."""
    compressor = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    return [compressor.compress(b'{"reports":[{}]}') + compressor.flush()]


def _written(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()
