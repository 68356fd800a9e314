"""What routes and jobs need from the database, and nothing more.

Every method is one transaction: when it returns, a crash loses nothing of it. Errors that a caller
can cause are :class:`StoreRefusal` with a reason from a closed list.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

from blender_dp.core.channels.report import Question
from blender_dp.core.errors import BlenderError
from blender_dp.core.population import ReportCounts
from blender_dp.service.campaign import Campaign, JobKind, Move, State
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports
from blender_dp.service.jobs.leases import Job, Lease, RunningJob
from blender_dp.service.jobs.workload import Workload


class Reason(StrEnum):
    """Why a store says no."""

    UNKNOWN_CAMPAIGN = "unknown-campaign"
    MOVE_NOT_ALLOWED = "move-not-allowed"
    NOT_COLLECTING = "campaign-not-collecting"
    UNKNOWN_ENROLMENT = "unknown-enrolment"
    ALREADY_CONTRIBUTED = "already-contributed"
    WITHDRAWN = "withdrawn"
    REPORT_ID_REUSED = "report-id-reused"
    LEASE_LOST = "lease-lost"
    JOB_NOT_RETRIABLE = "job-not-retriable"
    OVERLOADED = "overloaded"


class StoreRefusal(BlenderError):  # noqa: N818 - an answer, not a fault
    """The store did nothing."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(f"refused: {reason}")


class Document(StrEnum):
    """What a campaign publishes, each stored as the bytes that are sent."""

    HEAD_LIST = "head-list"
    """The signed head list."""
    OPT_IN_ESTIMATES = "opt-in-estimates"
    CLIENT_ESTIMATES = "client-estimates"
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
    sealed: bytes
    tag: bytes
    """Keyed tag of the content: tells a repetition from another body."""
    consent_version: str
    consent_digest: str
    consent_given_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a campaign is, in counts that name no record."""

    state: State
    enrolled: int
    contributed: int
    withdrawn: int
    record_reports: int
    query_reports: int
    refused: Mapping[str, int]
    jobs: Sequence[Job]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a job leaves behind, stored in one transaction together with the campaign's move."""

    move: Move | None
    documents: Mapping[Document, bytes | Callable[[Sequence[Mapping[str, Any]]], bytes]]
    """Each as bytes, or as what makes the bytes of the log entries below, once they are chained."""
    log_entries: Sequence[Mapping[str, Any]]
    """For the public log: kind and digest; the store adds the rest."""
    counter_sizes: Mapping[Question, int]
    """With the head list: how many cells and how many queries reports may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """Somebody's right to use the API."""

    name: str
    role: str
    digest: bytes
    """SHA-256 of the secret."""
    created_at: datetime
    revoked_at: datetime | None = None


class CampaignStore(Protocol):
    """Implemented over SQLite and over PostgreSQL; one contract suite runs over both."""

    async def close(self) -> None:
        """Finish what was accepted and close every connection."""
        ...

    async def is_in_place(self) -> bool:
        """Tell whether what is written now will be found where the store was opened."""
        ...

    async def require_writable(self) -> None:
        """Fail if nothing can be written now."""
        ...

    async def workload(self, *, now: datetime, overdue_since: datetime) -> Workload:
        """Return what waits; a job whose campaign moved before ``overdue_since`` is overdue."""
        ...

    # Campaigns. Every change appends to the audit chain in the same transaction.

    async def add_campaign(self, campaign: Campaign, *, actor: str) -> None:
        """Store a new campaign in draft."""
        ...

    async def campaign(self, campaign_id: UUID) -> Campaign:
        """Return a campaign."""
        ...

    async def description(self, campaign_id: UUID) -> Mapping[str, Any]:
        """Return what no move changes of a campaign, as it was stored when it was made.

        Never rebuilt from the campaign: its digest is in logs and signed lists, and a later
        version of this software may describe campaigns in other words.
        """
        ...

    async def campaigns(self, *, after: UUID | None, limit: int) -> Sequence[Campaign]:
        """Return campaigns, newest first."""
        ...

    async def move(
        self, campaign_id: UUID, move: Move, *, origin: State, actor: str, now: datetime
    ) -> Campaign:
        """Make a move if the campaign is still in ``origin``; add the job that follows.

        Purging also deletes contributions, report ids, tags, counters and waiting jobs.
        """
        ...

    async def progress(self, campaign_id: UUID) -> Progress:
        """Return the counts of a campaign."""
        ...

    async def add_refusals(self, campaign_id: UUID, refused: Mapping[str, int]) -> None:
        """Count requests that were refused, by reason."""
        ...

    # Opt-in users

    async def require_enrolment(self, campaign_id: UUID, enrolment: bytes) -> None:
        """Refuse a token that is no enrolment of this campaign."""
        ...

    async def add_enrolments(self, campaign_id: UUID, digests: Sequence[bytes]) -> None:
        """Let the holders of these tokens contribute once."""
        ...

    async def contribute(self, campaign_id: UUID, contribution: Contribution) -> bool:
        """Store a contribution; False if the very same one is there already."""
        ...

    async def withdraw(self, campaign_id: UUID, enrolment: bytes) -> None:
        """Delete a contribution before sealing, for good."""
        ...

    def contributions(self, campaign_id: UUID) -> AsyncIterator[Sequence[Contribution]]:
        """Return all contributions in pieces, in an order that tells nothing."""
        ...

    async def add_reports(self, campaign_id: UUID, reports: CheckedReports) -> Added:
        """Count reports, each id once; all of them or, refused, none. On disk when it returns."""
        ...

    async def report_counts(self, campaign_id: UUID) -> ReportCounts:
        """Return what all reports named."""
        ...

    # Documents and logs

    async def document(self, campaign_id: UUID, kind: Document) -> bytes | None:
        """Return a published document."""
        ...

    async def log_entries(
        self, chain: Chain, *, start: int, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """Return entries of a log from an index on."""
        ...

    async def note(self, kind: str, *, actor: str, campaign_id: UUID | None, now: datetime) -> None:
        """Append to the audit chain what is not stored otherwise."""
        ...

    # Jobs

    async def lease_job(self, owner: str, *, but: Collection[int] = ()) -> Lease | None:
        """Take the oldest job that waits and whose id is none of these."""
        ...

    async def running_jobs(self) -> Sequence[RunningJob]:
        """Return the jobs that somebody holds, oldest first."""
        ...

    async def take_over(self, running: RunningJob, owner: str) -> Lease | None:
        """Take a job from its holder unless that one renewed it since; None if so."""
        ...

    async def renew(self, lease: Lease) -> Lease:
        """Show that the holder of a job lives."""
        ...

    async def give_back(self, lease: Lease) -> None:
        """Let a job wait again; the attempt does not count."""
        ...

    async def finish(self, lease: Lease, finished: Finished, *, now: datetime) -> None:
        """Store a job's results, make its move and end it, all at once, if the lease is held.

        Publishing the list deletes the raw contributions in the same transaction; releasing
        deletes report ids and tags.
        """
        ...

    async def fail(self, lease: Lease, failure: str, *, is_final: bool, now: datetime) -> None:
        """End a job without a result.

        If that is final, delete what was kept for it alone (contributions for the list, report
        ids for the release) in the same transaction, and add the job that erases keys and storage.
        """
        ...

    async def retry_job(
        self, campaign_id: UUID, kind: JobKind, *, after: Collection[str], actor: str, now: datetime
    ) -> None:
        """Add a job like the campaign's last of its kind if that failed for one of these reasons.

        The failed one stays as it is, for the record.
        """
        ...

    async def scrub(self, campaign_id: UUID) -> None:
        """Delete the rows that a campaign's moves left, if they were many, and overwrite all of it.

        Overwritten is what storage still holds of deleted rows (checkpoint, vacuum).
        """
        ...

    # Keys and tokens

    async def key_fingerprint(self) -> str | None:
        """Return the fingerprint of the keys that this store is used with, if there are any."""
        ...

    async def bind_keys(self, fingerprint: str) -> str:
        """Bind the store to its keys unless it is; return the fingerprint that it is bound to."""
        ...

    async def add_token(self, token: Token) -> None:
        """Store a token's digest; its name must be new."""
        ...

    async def token(self, digest: bytes) -> Token | None:
        """Return the token with this digest unless it was revoked."""
        ...

    async def tokens(self) -> Sequence[Token]:
        """Return all tokens, revoked ones too, by name."""
        ...

    async def revoke_token(self, name: str, *, now: datetime) -> None:
        """End a token."""
        ...
