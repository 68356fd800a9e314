"""Jobs and who may finish them.

A lease is fenced by its number: the attempt. Whoever takes a job over raises it, so that the one
who was too slow finds out before anything of theirs is stored.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from blender_dp.service.campaign import JobKind
from blender_dp.service.campaign_description import written
from blender_dp.service.database import Row, Transaction, first
from blender_dp.service.store import Job, JobState, Lease, Reason, StoreRefusal


async def add(tx: Transaction, campaign: int, kind: JobKind) -> None:
    """Let somebody do this."""
    await tx.run(
        "INSERT INTO jobs (campaign, kind, state, attempts) VALUES ($1, $2, $3, 0)",
        *(campaign, str(kind), str(JobState.WAITING)),
    )


async def give_up(tx: Transaction, campaign: int) -> None:
    """Take back a campaign's jobs; who runs one finds the lease lost."""
    await tx.run(
        "DELETE FROM jobs WHERE campaign = $1 AND state = $2", campaign, str(JobState.WAITING)
    )
    await tx.run(
        "UPDATE jobs SET state = $2, failure = 'purged' WHERE campaign = $1 AND state = $3",
        *(campaign, str(JobState.FAILED), str(JobState.RUNNING)),
    )


async def of_campaign(tx: Transaction, campaign_id: UUID) -> Sequence[Job]:
    """Return a campaign's jobs, oldest first."""
    found = await tx.rows(
        "SELECT jobs.id, campaigns.id, kind, jobs.state, attempts, failure"
        " FROM jobs JOIN campaigns ON campaigns.number = jobs.campaign"
        " WHERE campaigns.id = $1 ORDER BY jobs.id",
        str(campaign_id),
    )
    return [_job(row) for row in found]


async def lease(tx: Transaction, owner: str, *, now: datetime, until: datetime) -> Lease | None:
    """Take the oldest job that waits, or whose holder did not come back in time."""
    found = await first(
        tx,
        "UPDATE jobs SET state = $1, owner = $2, lease_until = $3, attempts = attempts + 1"
        " WHERE id = (SELECT id FROM jobs WHERE state = $4 OR (state = $1 AND lease_until <= $5)"
        " ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)"
        " RETURNING id, (SELECT id FROM campaigns WHERE number = jobs.campaign),"
        " kind, state, attempts, failure",
        *(str(JobState.RUNNING), owner, written(until), str(JobState.WAITING), written(now)),
    )
    return None if found is None else Lease(job=_job(found), owner=owner, until=until)


async def renew(tx: Transaction, held: Lease, *, until: datetime) -> Lease:
    """Hold a job longer, unless somebody took it."""
    await _change(
        tx,
        "UPDATE jobs SET lease_until = $5"
        " WHERE id = $1 AND state = $2 AND owner = $3 AND attempts = $4 RETURNING id",
        *(held, written(until)),
    )
    return replace(held, until=until)


async def end(
    tx: Transaction, held: Lease, state: JobState, *, failure: str | None, now: datetime
) -> None:
    """End a job if the lease is held still."""
    await _change(
        tx,
        "UPDATE jobs SET state = $5, failure = $6, owner = NULL, lease_until = NULL"
        " WHERE id = $1 AND state = $2 AND owner = $3 AND attempts = $4 AND lease_until > $7"
        " RETURNING id",
        *(held, str(state), failure, written(now)),
    )


async def _change(tx: Transaction, statement: str, held: Lease, *values: object) -> None:
    holder = (held.job.id, str(JobState.RUNNING), held.owner, held.job.attempts)
    if not await tx.rows(statement, *holder, *values):
        raise StoreRefusal(Reason.LEASE_LOST)


def _job(row: Row) -> Job:
    number, campaign, kind, state, attempts, failure = row
    return Job(
        id=number,
        campaign=UUID(campaign),
        kind=JobKind(kind),
        state=JobState(state),
        attempts=attempts,
        failure=failure,
    )
