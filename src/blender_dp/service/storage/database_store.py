"""Store of campaigns over any database: what routes and jobs need from it, and nothing more.

Every method but ``scrub`` is one transaction: when it returns, a crash loses nothing of it. Errors
that a caller can cause are :class:`StoreRefusal` with a reason from a closed list.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from blender_dp.core.population import ReportCounts
from blender_dp.service.campaign import Campaign, JobKind, Move, State
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports
from blender_dp.service.jobs.leases import Lease, RunningJob
from blender_dp.service.storage.database import Database
from blender_dp.service.storage.store import (
    Chain,
    Contribution,
    Document,
    JobResult,
    Progress,
    Token,
    Workload,
)
from blender_dp.service.storage.tables import (
    campaigns,
    chains,
    contributions,
    jobs,
    reports,
    results,
    tokens,
    workload,
)

_PIECE = 64
"""Contributions read at once: of 4 MiB each at most."""


@dataclass(frozen=True, slots=True)
class DatabaseStore:
    """Campaigns in SQLite or PostgreSQL; one suite of tests runs over both.

    Every change of a campaign appends to the audit chain in the same transaction.
    """

    database: Database

    async def close(self) -> None:
        """Finish what was accepted and close every connection."""
        await self.database.close()

    async def is_in_place(self) -> bool:
        """Tell whether what is written now will be found where the store was opened."""
        return await self.database.is_in_place()

    async def require_writable(self) -> None:
        """Fail if nothing can be written now."""
        await self.database.write(workload.write_nothing)

    async def workload(self, *, now: datetime, overdue_since: datetime) -> Workload:
        """Return what waits; a job whose campaign moved before ``overdue_since`` is overdue."""
        return await self.database.read(partial(workload.get, now=now, overdue_since=overdue_since))

    async def add_campaign(self, campaign: Campaign, *, actor: str) -> None:
        """Store a new campaign in draft."""
        await self.database.write(partial(campaigns.add, campaign=campaign, actor=actor))

    async def campaign(self, campaign_id: UUID) -> Campaign:
        """Return a campaign."""
        return await self.database.read(partial(campaigns.get, campaign_id=campaign_id))

    async def description(self, campaign_id: UUID) -> Mapping[str, Any]:
        """Return what no move changes of a campaign, as it was stored when it was made.

        Never rebuilt from the campaign: its digest is in logs and signed lists, and a later
        version of this software may describe campaigns in other words.
        """
        return await self.database.read(partial(campaigns.get_description, campaign_id=campaign_id))

    async def campaigns(self, *, after: UUID | None, limit: int) -> Sequence[Campaign]:
        """Return campaigns, newest first."""
        return await self.database.read(partial(campaigns.page, after=after, limit=limit))

    async def move(
        self, campaign_id: UUID, move: Move, *, origin: State, actor: str, now: datetime
    ) -> Campaign:
        """Make a move if the campaign is still in ``origin``; add the job that follows.

        Purging also deletes contributions, report ids, tags, counters and waiting jobs.
        """
        return await self.database.write(
            partial(
                campaigns.move,
                campaign_id=campaign_id,
                move=move,
                origin=origin,
                actor=actor,
                now=now,
            )
        )

    async def progress(self, campaign_id: UUID) -> Progress:
        """Return the counts of a campaign."""
        return await self.database.read(partial(campaigns.progress, campaign_id=campaign_id))

    async def add_refusals(self, campaign_id: UUID, refused: Mapping[str, int]) -> None:
        """Count requests that were refused, by reason."""
        await self.database.write(
            partial(campaigns.add_refusals, campaign_id=campaign_id, refused=refused)
        )

    async def require_enrolment(self, campaign_id: UUID, enrolment: bytes) -> None:
        """Refuse a token that is no enrolment of this campaign."""
        await self.database.read(
            partial(contributions.require_enrolment, campaign_id=campaign_id, enrolment=enrolment)
        )

    async def add_enrolments(self, campaign_id: UUID, digests: Sequence[bytes]) -> None:
        """Let the holders of these tokens contribute once."""
        await self.database.write(
            partial(contributions.add_enrolments, campaign_id=campaign_id, digests=digests)
        )

    async def contribute(self, campaign_id: UUID, contribution: Contribution) -> bool:
        """Store a contribution; False if the very same one is there already."""
        return await self.database.write(
            partial(contributions.contribute, campaign_id=campaign_id, contribution=contribution)
        )

    async def withdraw(self, campaign_id: UUID, enrolment: bytes) -> None:
        """Delete a contribution before sealing, for good."""
        await self.database.write(
            partial(contributions.withdraw, campaign_id=campaign_id, enrolment=enrolment)
        )
        self.database.scrub_soon()

    async def contributions(self, campaign_id: UUID) -> AsyncIterator[Sequence[Contribution]]:
        """Return all contributions in pieces, in an order that tells nothing."""
        after = b""
        while True:
            piece = await self.database.read(
                partial(contributions.piece, campaign_id=campaign_id, after=after, limit=_PIECE)
            )
            if not piece:
                return
            yield piece
            after = piece[-1].enrolment

    async def add_reports(self, campaign_id: UUID, reports: CheckedReports) -> Added:
        """Count reports, each id once; all of them or, refused, none. On disk when it returns."""
        return await self.database.add_reports(campaign_id, reports)

    async def report_counts(self, campaign_id: UUID) -> ReportCounts:
        """Return what all reports named."""
        return await self.database.read(partial(reports.totals, campaign_id=campaign_id))

    async def document(self, campaign_id: UUID, kind: Document) -> bytes | None:
        """Return a published document."""
        return await self.database.read(
            partial(results.document, campaign_id=campaign_id, kind=kind)
        )

    async def log_entries(
        self, chain: Chain, *, start: int, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """Return entries of a log from an index on."""
        return await self.database.read(
            partial(chains.entries, chain=chain, start=start, limit=limit)
        )

    async def note(self, kind: str, *, actor: str, campaign_id: UUID | None, now: datetime) -> None:
        """Append to the audit chain what is not stored otherwise."""
        await self.database.write(
            partial(chains.audit, kind=kind, actor=actor, campaign=campaign_id, now=now)
        )

    async def lease_job(self, owner: str, *, but: Collection[int] = ()) -> Lease | None:
        """Take the oldest job that waits and whose id is none of these."""
        return await self.database.write(partial(jobs.lease, owner=owner, but=but))

    async def running_jobs(self) -> Sequence[RunningJob]:
        """Return the jobs that workers hold, oldest first."""
        return await self.database.read(jobs.running)

    async def take_over(self, running: RunningJob, owner: str) -> Lease | None:
        """Take a job from its holder unless that one renewed it since; None if so."""
        return await self.database.write(partial(jobs.take_over, running_job=running, owner=owner))

    async def renew(self, lease: Lease) -> Lease:
        """Show that the holder of a job lives."""
        return await self.database.write(partial(jobs.renew, held=lease))

    async def give_back(self, lease: Lease) -> None:
        """Let a job wait again; the attempt does not count."""
        await self.database.write(partial(jobs.give_back, held=lease))

    async def finish(self, lease: Lease, result: JobResult, *, now: datetime) -> None:
        """Store a job's results, make its move and end it, all at once, if the lease is held.

        Publishing the list deletes the raw contributions in the same transaction; releasing
        deletes report ids and tags.
        """
        await self.database.write(partial(results.finish, held=lease, result=result, now=now))

    async def fail(self, lease: Lease, failure: str, *, is_final: bool, now: datetime) -> None:
        """End a job without a result.

        If that is final, delete what was kept for it alone (contributions for the list, report
        ids for the release) in the same transaction, and add the job that erases keys and storage.
        """
        await self.database.write(
            partial(results.fail, held=lease, failure=failure, is_final=is_final, now=now)
        )

    async def retry_job(
        self,
        campaign_id: UUID,
        kind: JobKind,
        *,
        after: Collection[str],
        actor: str,
        now: datetime,
    ) -> None:
        """Add a job like the campaign's last of its kind if that failed for one of these reasons.

        The failed one stays as it is, for the record.
        """
        await self.database.write(
            partial(
                results.retry,
                campaign_id=campaign_id,
                kind=kind,
                after=after,
                actor=actor,
                now=now,
            )
        )

    async def scrub(self, campaign_id: UUID) -> None:
        """Delete the rows that a campaign's moves left, if they were many, and overwrite all of it.

        Overwritten is what storage still holds of deleted rows (checkpoint, vacuum).
        """
        number, tables = await self.database.read(
            partial(campaigns.find_tables_to_empty, campaign_id=campaign_id)
        )
        for table in tables:
            await self._empty(number, table)
        await self.database.scrub()  # storage knows no campaigns

    async def _empty(self, number: int, table: str) -> None:
        """Delete a campaign's rows, some in a transaction, so that each ends in time."""
        start: bytes | None = b""
        while start is not None:
            start = await self.database.write(
                partial(campaigns.delete_some, number=number, table=table, start=start)
            )

    async def key_fingerprint(self) -> str | None:
        """Return the fingerprint of the keys that this store is used with, if there are any."""
        return await self.database.read(tokens.key_fingerprint)

    async def bind_keys(self, fingerprint: str) -> str:
        """Bind the store to its keys unless it is; return the fingerprint that it is bound to."""
        return await self.database.write(partial(tokens.bind_keys, given=fingerprint))

    async def add_token(self, token: Token) -> None:
        """Store a token's digest; its name must be new."""
        await self.database.write(partial(tokens.add, token=token))

    async def token(self, digest: bytes) -> Token | None:
        """Return the token with this digest unless it was revoked."""
        return await self.database.read(partial(tokens.get_valid, digest=digest))

    async def tokens(self) -> Sequence[Token]:
        """Return all tokens, revoked ones too, by name."""
        return await self.database.read(tokens.get_all)

    async def revoke_token(self, name: str, *, now: datetime) -> None:
        """End a token."""
        await self.database.write(partial(tokens.revoke, name=name, now=now))
