"""Dependencies of the relay, which the command line or a test passes in."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.relay.collector import BatchCollector
from blender_dp.relay.metrics import RelayMetrics
from blender_dp.relay.storage.store import RelayStore
from blender_dp.server.event_log import EventLog
from blender_dp.wire.reports.service_report import MOST_REPORTS
from blender_dp.wire.service.signatures import public_key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """Storage, key, collector and randomness."""

    store: RelayStore
    collector: BatchCollector
    key: Ed25519PrivateKey
    """Signs statements; head lists name its public half."""
    event_log: EventLog
    collector_key: str | None = None
    """The key that signs head lists; None for the one that is seen first."""
    random_bytes: Callable[[int], bytes] = os.urandom
    metrics: RelayMetrics = field(default_factory=RelayMetrics)
    piece_size: int = MOST_REPORTS
    """Most reports in one request to the collector."""
    poll_seconds: float = 5.0
    """Pause between two looks at the collector."""
    directory: Path | None = None
    """The relay's data directory, whose disk is watched; None if it has none."""

    @property
    def public_key(self) -> str:
        """The relay's public key, as head lists name it."""
        return public_key_of(self.key)
