"""Counts of jobs and the age of open campaigns, for metrics and health."""

from datetime import datetime

from blender_dp.server.databases.statements import first
from blender_dp.service.campaign import JobKind, State
from blender_dp.service.campaign_description import write_time
from blender_dp.service.jobs.leases import JobState
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import BatchState, Workload

_UNENDED = (str(JobState.WAITING), str(JobState.RUNNING))


async def get(tx: Transaction, *, now: datetime, overdue_since: datetime) -> Workload:
    """Return the numbers of jobs that wait or failed, and the age of open campaigns."""
    # A release that waits for its relay is not overdue.
    # A failed job does not count if it was retried, or if its campaign was purged; a failed erasure
    # of a purged campaign counts.
    found = await tx.rows(
        "SELECT jobs.state, count(*), sum(CASE WHEN campaigns.moved_at <= $1"
        " AND NOT (jobs.kind = $6 AND EXISTS (SELECT 1 FROM relayed_batches AS awaited"
        " WHERE awaited.campaign = jobs.campaign AND awaited.state = $7)) THEN 1 ELSE 0 END)"
        " FROM jobs JOIN campaigns ON campaigns.number = jobs.campaign"
        " WHERE NOT (jobs.state = $2 AND (campaigns.state = $3 AND jobs.kind <> $5"
        " OR EXISTS"
        " (SELECT 1 FROM jobs AS retry WHERE retry.campaign = jobs.campaign"
        " AND retry.kind = jobs.kind AND retry.id > jobs.id))) AND jobs.state <> $4"
        " GROUP BY jobs.state",
        *(write_time(overdue_since), str(JobState.FAILED), str(State.PURGED), str(JobState.DONE)),
        *(str(JobKind.ERASE), str(JobKind.RELEASE), str(BatchState.WAITING)),
    )
    counts = {state: int(count) for state, count, _ in found}
    oldest = await first(
        tx,
        "SELECT min(moved_at) FROM campaigns WHERE state IN ($1, $2)",
        *(str(State.OPT_IN_OPEN), str(State.CLIENTS_OPEN)),
    )
    opened = datetime.fromisoformat(oldest[0]) if oldest and oldest[0] else now
    return Workload(
        waiting=counts.get(JobState.WAITING, 0),
        overdue=sum(int(late) for state, _, late in found if state in _UNENDED),
        failed=counts.get(JobState.FAILED, 0),
        oldest_open_seconds=max(0.0, (now - opened).total_seconds()),
    )


async def write_nothing(tx: Transaction) -> None:
    """Change a row and change it back: a write that fails if the disk does.

    SQLite writes no page when a row is set to its own value.
    """
    for _ in range(2):
        await tx.run("UPDATE schema_version SET version = -version")
