"""Dependencies of the issuer, which the command line or a test passes in."""

from dataclasses import dataclass, field
from pathlib import Path

from blender_dp.issuer.campaign_keys import CampaignKeys
from blender_dp.issuer.logins.login import Login
from blender_dp.issuer.metrics import IssuerMetrics
from blender_dp.issuer.storage.store import IssuerStore
from blender_dp.server.collector import Collector
from blender_dp.server.event_log import EventLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """Storage, keys, login and collector."""

    store: IssuerStore
    keys: CampaignKeys
    login: Login
    collector: Collector
    event_log: EventLog
    collector_key: str | None = None
    """The key that signs head lists; None for the one that is seen first."""
    metrics: IssuerMetrics = field(default_factory=IssuerMetrics)
    poll_seconds: float = 5.0
    """Pause between two looks at the collector."""
    directory: Path | None = None
    """The issuer's data directory, whose disk is watched; None if it has none."""
