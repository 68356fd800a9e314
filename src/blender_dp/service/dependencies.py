"""Dependencies of the service, which the command line or a test passes in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from blender_dp.core.errors import BlenderError
from blender_dp.service.campaign import Campaign
from blender_dp.service.http.access import Rate
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.operation.metrics import Metrics
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Document

MOST_DELTA = 1e-5
"""Default of the largest δ; the devices of this package accept no larger one."""
Predict = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers the planner's question; slow, so it is called in a thread."""
RenderReport = Callable[[Campaign, Mapping[Document, Mapping[str, Any]]], str]
"""Makes a page of a campaign and all that it published."""


class TooMuchWorkError(BlenderError):
    """A question to the planner would take more time or memory than is allowed."""

    def __init__(self) -> None:
        super().__init__("the question takes more time or memory than is allowed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Rate limits per address or token, and the largest δ."""

    enrol: Rate = field(default=Rate(burst=20, per_second=0.2))
    """Open enrolment, for each address."""
    opt_in: Rate = field(default=Rate(burst=60, per_second=1.0))
    """Contributions and withdrawals, for each token."""
    wrong_tokens: Rate = field(default=Rate(burst=10, per_second=0.1))
    """Guesses at tokens, for each address."""
    plan: Rate = field(default=Rate(burst=5, per_second=0.1))
    """Questions to the planner; each takes seconds."""
    most_delta: float = MOST_DELTA
    """The largest δ of a campaign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """Storage, keys, clock, randomness, and what the command line passes in."""

    store: DatabaseStore
    keys: KeyVault
    now: Callable[[], datetime]
    """In UTC."""
    random_bytes: Callable[[int], bytes]
    limits: Limits = field(default_factory=Limits)
    metrics: Metrics = field(default_factory=Metrics)
    metrics_need_token: bool = False
    """Whether the metrics are shown only to holders of a token."""
    predict: Predict | None = None
    """The planner; None where it is not installed."""
    render_report: RenderReport | None = None
    """Returns a release as one HTML page; None where the pages are not installed."""
    directory: Path | None = None
    """The service's data directory, whose disk is watched; None if it has none."""
    dashboard: Path | None = None
    """The folder with the dashboard's files; None where it was not built."""
