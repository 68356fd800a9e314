"""Results of jobs, stored in one transaction."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.server.databases.statements import first
from blender_dp.service.campaign import Campaign, JobKind, Move
from blender_dp.service.jobs.leases import JobState, Lease
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import Document, JobResult, Reason, StoreRefusal
from blender_dp.service.storage.tables import campaigns, chains, jobs, relayed_rows


async def finish(tx: Transaction, held: Lease, result: JobResult, *, now: datetime) -> None:
    """Store a job's results, make its move and end it, if the lease is held."""
    # Lock the campaign first, then the job, as a purge does, so that they cannot deadlock.
    campaign = await campaigns.get_locked(tx, held.job.campaign)
    await jobs.end(tx, held, JobState.DONE, failure=None)
    actor = f"job {held.job.kind}"
    if result.move is None:
        await chains.audit(tx, held.job.kind, actor=actor, campaign=campaign.id, now=now)
    else:
        await campaigns.make_move(tx, campaign, result.move, actor=actor, now=now)
    await _publish(tx, campaign, result, now=now)


async def fail(
    tx: Transaction, held: Lease, failure: str, *, is_final: bool, now: datetime
) -> None:
    """End a job without a result; if that is final, delete the data that only it needed."""
    campaign = await campaigns.get_locked(tx, held.job.campaign)
    await jobs.end(tx, held, JobState.FAILED, failure=failure)
    actor = f"job {held.job.kind}"
    await chains.audit(tx, "job-failed", actor=actor, campaign=campaign.id, now=now)
    move = _MOVE_OF_JOB.get(held.job.kind)
    if is_final and move is not None:
        number = await campaigns.number_of(tx, campaign.id)
        await campaigns.empty_tables(tx, number, move)
        await jobs.add(tx, number, JobKind.ERASE)


_MOVE_OF_JOB = {JobKind.HEAD_LIST: Move.PUBLISH_LIST, JobKind.RELEASE: Move.RELEASE}
"""The move that a job makes when it succeeds; its data are not needed afterwards."""


async def retry(
    tx: Transaction,
    campaign_id: UUID,
    kind: JobKind,
    *,
    after: Collection[str],
    actor: str,
    now: datetime,
) -> None:
    """Repeat a campaign's last job of a kind if it failed for one of these reasons."""
    campaign = await campaigns.get_locked(tx, campaign_id)
    number = await campaigns.number_of(tx, campaign_id)
    is_over = not kind.is_needed_in(campaign.state)
    if is_over or await jobs.last_failure(tx, number, kind) not in after:
        raise StoreRefusal(Reason.JOB_NOT_RETRIABLE)
    await jobs.add(tx, number, kind)
    await chains.audit(tx, "job-retried", actor=actor, campaign=campaign_id, now=now)


async def document(tx: Transaction, campaign_id: UUID, kind: Document) -> bytes | None:
    """Return a published document."""
    number = await campaigns.number_of(tx, campaign_id)
    found = await first(
        tx,
        "SELECT content FROM documents WHERE campaign = $1 AND kind = $2",
        *(number, str(kind)),
    )
    return None if found is None else bytes(found[0])


async def _publish(
    tx: Transaction, campaign: Campaign, result: JobResult, *, now: datetime
) -> None:
    number = await campaigns.number_of(tx, campaign.id)
    entries = [
        await chains.publish(
            tx, asked["kind"], campaign=campaign.id, digest=asked["digest"], now=now
        )
        for asked in result.log_entries
    ]
    for kind, content in result.documents.items():
        # A signed document may hold its own log entry, which is known only now.
        made = content(entries) if callable(content) else content
        await tx.run(
            "INSERT INTO documents (campaign, kind, content) VALUES ($1, $2, $3)"
            " ON CONFLICT (campaign, kind) DO UPDATE SET content = excluded.content",
            *(number, str(kind), made),
        )
    if result.relayed_counted is not None:
        await relayed_rows.set_counted(tx, number, result.relayed_counted)
    for question, size in result.counter_sizes.items():
        if size < 0:
            raise BrokenInvariantError("a head list has no fewer than 0 cells")
        await tx.run(
            "INSERT INTO questions (campaign, question, size) VALUES ($1, $2, $3)",
            *(number, question, size),
        )
