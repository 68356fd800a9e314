"""SQL of jobs and their leases.

Every lease has a number: the attempt. A worker that takes a job over raises it, so that nothing of
the slower worker is stored. An attempt counts from its start: a job that kills its process has used
one. An attempt that is given back, because the store was busy, does not count. A row holds no time,
only a mark that its holder changes.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from blender_dp.server.databases.statements import Row, first
from blender_dp.service.campaign import JobKind
from blender_dp.service.jobs.leases import Job, JobState, Lease, RunningJob
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import Reason, StoreRefusal


async def add(tx: Transaction, campaign: int, kind: JobKind) -> None:
    """Add a job that waits for a worker."""
    await tx.run(
        "INSERT INTO jobs (campaign, kind, state, attempts) VALUES ($1, $2, $3, 0)",
        *(campaign, str(kind), str(JobState.WAITING)),
    )


async def last_failure(tx: Transaction, campaign: int, kind: JobKind) -> str | None:
    """Return the failure of a campaign's last job of a kind; None if it did not fail."""
    found = await first(
        tx,
        "SELECT state, failure FROM jobs WHERE campaign = $1 AND kind = $2"
        " ORDER BY id DESC LIMIT 1",
        *(campaign, str(kind)),
    )
    return found[1] if found and found[0] == JobState.FAILED else None


async def give_up(tx: Transaction, campaign: int) -> None:
    """Cancel a campaign's jobs; a worker that runs one finds its lease lost."""
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


async def lease(tx: Transaction, owner: str, *, but: Collection[int] = ()) -> Lease | None:
    """Take the oldest waiting job that is not one of ``but``."""
    passed_over = "".join(f" AND id <> ${place}" for place, _ in enumerate(but, 4))
    # A job that was given back keeps its mark: a watcher then sees that it changed its holder.
    found = await first(
        tx,
        "UPDATE jobs SET state = $1, owner = $2, attempts = attempts + 1,"  # noqa: S608 - places only
        " renewal = CAST(COALESCE(CAST(renewal AS INTEGER) + 1, 0) AS TEXT)"
        f" WHERE id = (SELECT id FROM jobs WHERE state = $3{passed_over}"
        " ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
        *(str(JobState.RUNNING), owner, str(JobState.WAITING), *but),
    )
    return await _lease(tx, found, owner)


async def _lease(tx: Transaction, taken: Row | None, owner: str) -> Lease | None:
    if taken is None:
        return None
    (row,) = await tx.rows(
        "SELECT jobs.id, campaigns.id, kind, jobs.state, attempts, failure, renewal"
        " FROM jobs JOIN campaigns ON campaigns.number = jobs.campaign WHERE jobs.id = $1",
        taken[0],
    )
    return Lease(job=_job(row[:-1]), owner=owner, renewals=int(row[-1]))


async def running(tx: Transaction) -> Sequence[RunningJob]:
    """Return the jobs that workers hold, oldest first."""
    found = await tx.rows(
        "SELECT id, owner, attempts, renewal FROM jobs WHERE state = $1 ORDER BY id",
        str(JobState.RUNNING),
    )
    return [
        RunningJob(id=number, owner=owner, attempts=attempts, renewal=renewal)
        for number, owner, attempts, renewal in found
    ]


async def take_over(tx: Transaction, running_job: RunningJob, owner: str) -> Lease | None:
    """Take a job from its holder unless the holder renewed or ended it since."""
    found = await first(
        tx,
        "UPDATE jobs SET owner = $1, renewal = $2, attempts = attempts + 1"
        " WHERE id = $3 AND state = $4 AND owner = $5 AND attempts = $6 AND renewal = $7"
        " RETURNING id",
        *(owner, _mark(0), running_job.id, str(JobState.RUNNING)),
        *(running_job.owner, running_job.attempts, running_job.renewal),
    )
    return await _lease(tx, found, owner)


async def renew(tx: Transaction, held: Lease) -> Lease:
    """Change the mark of a job, unless another worker took it."""
    renewals = held.renewals + 1
    await _change(
        tx,
        "UPDATE jobs SET renewal = $5"
        " WHERE id = $1 AND state = $2 AND owner = $3 AND attempts = $4 RETURNING id",
        *(held, _mark(renewals)),
    )
    return replace(held, renewals=renewals)


async def end(tx: Transaction, held: Lease, state: JobState, *, failure: str | None) -> None:
    """End a job if no other worker took it over."""
    await _change(
        tx,
        "UPDATE jobs SET state = $5, failure = $6, owner = NULL, renewal = NULL"
        " WHERE id = $1 AND state = $2 AND owner = $3 AND attempts = $4 RETURNING id",
        *(held, str(state), failure),
    )


async def give_back(tx: Transaction, held: Lease) -> None:
    """Let a job wait again without counting this attempt, if no other worker took it over."""
    await _change(
        tx,
        "UPDATE jobs SET state = $5, owner = NULL, attempts = attempts - 1"
        " WHERE id = $1 AND state = $2 AND owner = $3 AND attempts = $4 RETURNING id",
        *(held, str(JobState.WAITING)),
    )


def _mark(renewals: int) -> str:
    return str(renewals)


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
