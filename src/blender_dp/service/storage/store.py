"""Values that the store of campaigns takes and returns, and the reasons for its refusals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from blender_dp.core.channels.report import Question
from blender_dp.core.errors import BlenderError
from blender_dp.service.campaign import Move, State
from blender_dp.service.jobs.leases import Job


class Reason(StrEnum):
    """Reason for a refusal by the store."""

    UNKNOWN_CAMPAIGN = "unknown-campaign"
    NOT_A_DRAFT = "not-a-draft"
    DRAFT_CHANGED = "draft-changed"
    MOVE_NOT_ALLOWED = "move-not-allowed"
    NOT_COLLECTING = "campaign-not-collecting"
    UNKNOWN_ENROLMENT = "unknown-enrolment"
    ALREADY_CONTRIBUTED = "already-contributed"
    WITHDRAWN = "withdrawn"
    TOKEN_ISSUED = "token-issued-already"  # noqa: S105 - a reason, no secret
    REPORT_ID_REUSED = "report-id-reused"
    LEASE_LOST = "lease-lost"
    JOB_NOT_RETRIABLE = "job-not-retriable"
    OVERLOADED = "overloaded"
    BATCH_CHANGED = "relayed-batch-changed"


ANY_DESCRIPTION = frozenset({"*"})
"""Says that a draft may be replaced whatever it holds; else digests of descriptions say it."""


class StoreRefusal(BlenderError):  # noqa: N818 - an answer, not a fault
    """The store refused and changed nothing."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(f"refused: {reason}")


class Document(StrEnum):
    """Kind of published document; each is stored as the bytes that are sent."""

    HEAD_LIST = "head-list"
    """The signed head list."""
    OPT_IN_ESTIMATES = "opt-in-estimates"
    CLIENT_ESTIMATES = "client-estimates"
    RELAY_ESTIMATES = "relay-estimates"
    """What became of the relay's batch, and what it said; only with a relay."""
    CERTIFICATE = "certificate"
    RELEASE = "release"


class Chain(StrEnum):
    """The two append-only, hash-chained logs."""

    PUBLIC = "public"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """One opt-in user's records, encrypted, with the receipt of the consent."""

    enrolment: bytes
    """SHA-256 of the enrolment token."""
    encrypted: bytes
    tag: bytes
    """Keyed tag of the content, by which a repeated upload is recognised."""
    consent_version: str
    consent_digest: str
    consent_given_at: datetime


class BatchState(StrEnum):
    """State of the batch that a campaign's relay sends."""

    WAITING = "waiting"
    COMPLETE = "complete"
    """All pieces are there and have the digest that the relay states."""
    DESTROYED = "destroyed"
    """The relay stated that it destroyed its reports."""
    ABSENT = "absent"
    """It was not complete in time and is never taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedBatch:
    """The batch of a campaign's relay, as far as it is there."""

    state: BatchState
    signed: Mapping[str, Any] | None
    """The relay's statement with its signature; None while the relay said nothing."""
    pieces: Sequence[int]
    """Numbers of the pieces that are stored."""
    counted: int | None
    """How many of its reports the release counts; None before the release."""

    @property
    def stated(self) -> int | None:
        """The number of reports by the relay's statement."""
        return None if self.signed is None else int(self.signed["statement"]["count"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a campaign, in counts that name no record."""

    state: State
    enrolled: int
    contributed: int
    withdrawn: int
    tokens: int
    """Number of enrolments that got a report token."""
    record_reports: int
    query_reports: int
    refused: Mapping[str, int]
    jobs: Sequence[Job]
    relayed: RelayedBatch | None = None
    """The relay's batch; None without a relay, and before it is waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """Results of a job, stored in one transaction with the campaign's move."""

    move: Move | None
    documents: Mapping[Document, bytes | Callable[[Sequence[Mapping[str, Any]]], bytes]]
    """Each as bytes, or as a function that makes the bytes from the chained log entries."""
    log_entries: Sequence[Mapping[str, Any]]
    """Kind and digest of each entry for the public log; the store adds the rest."""
    counter_sizes: Mapping[Question, int]
    """With the head list: number of cells and number of queries that reports may name."""
    relayed_counted: int | None = None
    """With the release of a campaign that has a relay: how many relayed reports are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """Token of the API with its name and role."""

    name: str
    role: str
    digest: bytes
    """SHA-256 of the secret."""
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Jobs that wait or failed, and the age of open campaigns: counts that name no campaign."""

    waiting: int
    """Jobs that no worker has begun."""
    overdue: int
    """Jobs, begun or not, that should have ended long ago."""
    failed: int
    oldest_open_seconds: float
    """Age of the oldest campaign that takes contributions or reports; 0 if none does."""
