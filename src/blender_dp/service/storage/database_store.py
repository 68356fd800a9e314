"""Store of campaigns over any database, with the operations of routes and jobs.

Every method but ``scrub`` is one transaction: when it returns, its changes survive a crash. Errors
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
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports, Outcome
from blender_dp.service.jobs.leases import Lease, RunningJob
from blender_dp.service.storage.relayed_batches import RelayedBatches
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
    progress,
    reports,
    results,
    tokens,
    workload,
)

_PIECE = 64
"""Number of contributions read at once; each has at most 4 MiB."""


@dataclass(frozen=True, slots=True)
class DatabaseStore(RelayedBatches):
    """Campaigns in SQLite or PostgreSQL; one suite of tests runs over both.

    Every change of a campaign appends to the audit chain in the same transaction.
    """

    async def close(self) -> None:
        """Finish all accepted requests and close every connection."""
        await self.database.close()

    async def is_in_place(self) -> bool:
        """Tell whether the database is still the one at the opened address."""
        return await self.database.is_in_place()

    async def require_writable(self) -> None:
        """Fail if nothing can be written now."""
        await self.database.write(workload.write_nothing)

    async def workload(self, *, now: datetime, overdue_since: datetime) -> Workload:
        """Count jobs; those whose campaign moved before ``overdue_since`` are overdue."""
        return await self.database.read(partial(workload.get, now=now, overdue_since=overdue_since))

    async def put_campaign(
        self, campaign: Campaign, *, actor: str, replaceable: frozenset[str] | None = None
    ) -> Campaign:
        """Store a new campaign, or change it while it is a draft; return what is stored.

        Args:
            campaign: What to store.
            actor: Who asked for it, for the audit log.
            replaceable: Digests of the descriptions that may be replaced. None makes a campaign
                and replaces none.
        """
        return await self.database.write(
            partial(campaigns.put, campaign=campaign, actor=actor, replaceable=replaceable)
        )

    async def campaign(self, campaign_id: UUID) -> Campaign:
        """Return a campaign."""
        return await self.database.read(partial(campaigns.get, campaign_id=campaign_id))

    async def description(self, campaign_id: UUID) -> Mapping[str, Any]:
        """Return a campaign's description, as it was stored when the campaign was created.

        It is never rebuilt from the campaign: its digest is in logs and signed lists, and a later
        version of this software may describe campaigns differently.
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
        work = partial(campaigns.move, campaign_id=campaign_id, move=move, origin=origin)
        return await self.database.write(partial(work, actor=actor, now=now))

    async def progress(self, campaign_id: UUID) -> Progress:
        """Return the counts of a campaign."""
        return await self.database.read(partial(progress.get, campaign_id=campaign_id))

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
        """Let the holders of these tokens contribute once, or get one report token."""
        await self.database.write(
            partial(contributions.add_enrolments, campaign_id=campaign_id, digests=digests)
        )

    async def contribute(self, campaign_id: UUID, contribution: Contribution) -> bool:
        """Store a contribution; return False if the same one is stored already."""
        return await self.database.write(
            partial(contributions.contribute, campaign_id=campaign_id, contribution=contribution)
        )

    async def withdraw(self, campaign_id: UUID, enrolment: bytes) -> None:
        """Delete a contribution for good, while the opt-in side is open."""
        await self.database.write(
            partial(contributions.withdraw, campaign_id=campaign_id, enrolment=enrolment)
        )
        self.database.scrub_soon()

    async def issue_token(self, campaign_id: UUID, enrolment: bytes, request: bytes) -> None:
        """Store the digest of the request for an enrolment's only token, before it is signed."""
        work = partial(contributions.issue_token, enrolment=enrolment, request=request)
        await self.database.write(partial(work, campaign_id=campaign_id))

    async def contributions(self, campaign_id: UUID) -> AsyncIterator[Sequence[Contribution]]:
        """Return all contributions in pieces, in an order that reveals nothing."""
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
        """Count reports, each id once: all of a request or none. They are on disk on return."""
        return await self.database.add_reports(campaign_id, reports)

    async def add_singles(self, campaign_id: UUID, reports: CheckedReports) -> Sequence[Outcome]:
        """Count single reports, each by itself, in one transaction that is on disk on return.

        Raises:
            StoreRefusal: None was counted.
        """
        return await self.database.add_singles(campaign_id, reports)

    async def report_counts(self, campaign_id: UUID) -> ReportCounts:
        """Return how often the reports named each item."""
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
        """Append to the audit log an action that is stored nowhere else."""
        await self.database.write(
            partial(chains.audit, kind=kind, actor=actor, campaign=campaign_id, now=now)
        )

    async def lease_job(self, owner: str, *, but: Collection[int] = ()) -> Lease | None:
        """Take the oldest waiting job whose id is not one of ``but``."""
        return await self.database.write(partial(jobs.lease, owner=owner, but=but))

    async def running_jobs(self) -> Sequence[RunningJob]:
        """Return the jobs that workers hold, oldest first."""
        return await self.database.read(jobs.running)

    async def take_over(self, running: RunningJob, owner: str) -> Lease | None:
        """Take a job from its holder; return None if the holder renewed it since."""
        return await self.database.write(partial(jobs.take_over, running_job=running, owner=owner))

    async def renew(self, lease: Lease) -> Lease:
        """Renew the lease of a job."""
        return await self.database.write(partial(jobs.renew, held=lease))

    async def give_back(self, lease: Lease) -> None:
        """Let a job wait again; the attempt does not count."""
        await self.database.write(partial(jobs.give_back, held=lease))

    async def finish(self, lease: Lease, result: JobResult, *, now: datetime) -> None:
        """Store a job's results, make its move and end it in one transaction, if the lease is held.

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
        """Repeat the campaign's last job of a kind if it failed for one of these reasons.

        The failed job stays in the list of jobs.
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
        """Delete the rows that a campaign no longer needs, and overwrite their remains.

        Remains of deleted rows in storage are overwritten by checkpoint and vacuum.
        """
        number, tables = await self.database.read(
            partial(campaigns.find_tables_to_empty, campaign_id=campaign_id)
        )
        for table in tables:
            await self._empty(number, table)
        await self.database.scrub()  # the storage is scrubbed as a whole

    async def _empty(self, number: int, table: str) -> None:
        """Delete a campaign's rows in several transactions, so that each is short."""
        start: bytes | None = b""
        while start is not None:
            start = await self.database.write(
                partial(campaigns.delete_some, number=number, table=table, start=start)
            )

    async def key_fingerprint(self) -> str | None:
        """Return the fingerprint of the keys that this store is bound to; None without keys."""
        return await self.database.read(tokens.key_fingerprint)

    async def bind_keys(self, fingerprint: str) -> str:
        """Bind the store to these keys if it has none; return the bound fingerprint."""
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
        """Revoke a token."""
        await self.database.write(partial(tokens.revoke, name=name, now=now))
