"""Progress of a campaign as the API shows it: counts, and jobs with advice where they failed."""

import msgspec

from blender_dp.service.campaign import JobKind, State
from blender_dp.service.jobs.failures import PASSING, Failure
from blender_dp.service.jobs.leases import Job, JobState
from blender_dp.service.storage.store import BatchState, Progress, RelayedBatch


class ShownJob(msgspec.Struct, frozen=True, kw_only=True):
    """Work for a campaign."""

    id: int
    kind: JobKind
    state: JobState
    attempts: int
    failure: str | None
    advice: str | None
    """Advice to the operator about the failure."""
    can_retry: bool
    """Whether the operator may retry the job."""

    @classmethod
    def of(cls, job: Job, *, state: State, is_last: bool) -> "ShownJob":
        """Return the public view of a job of a campaign, the last of its kind or an earlier one."""
        failure = next((one for one in Failure if one == job.failure), None)
        return cls(
            id=job.id,
            kind=job.kind,
            state=job.state,
            attempts=job.attempts,
            failure=job.failure,
            advice=failure.advice if failure else None,
            can_retry=is_last and failure in PASSING and job.kind.is_needed_in(state),
        )


class ReportTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Number of reports, by the question that they answer."""

    record: int
    query: int


class RelayTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The batch of a campaign's relay, in numbers."""

    state: BatchState
    stated: int | None
    """Number of reports by the relay's statement; null while the relay said nothing."""
    counted: int | None
    """Number of reports that the release counts; null before the release."""

    @classmethod
    def of(cls, batch: RelayedBatch | None) -> "RelayTotals | None":
        """Return the public view of a batch."""
        if batch is None:
            return None
        return cls(state=batch.state, stated=batch.stated, counted=batch.counted)


class ShownProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of a campaign, in counts that name no record."""

    enrolled: int
    contributed: int
    withdrawn: int
    tokens: int
    """Number of enrolments that got a report token."""
    reports: ReportTotals
    refused: dict[str, int]
    jobs: list[ShownJob]
    relayed: RelayTotals | None = None
    """The relay's batch; null without a relay, and before it is waited for."""

    @classmethod
    def of(cls, progress: Progress) -> "ShownProgress":
        """Return the public view of progress."""
        last = {job.kind: job for job in progress.jobs}
        return cls(
            enrolled=progress.enrolled,
            contributed=progress.contributed,
            withdrawn=progress.withdrawn,
            tokens=progress.tokens,
            reports=ReportTotals(record=progress.record_reports, query=progress.query_reports),
            refused=dict(progress.refused),
            jobs=[
                ShownJob.of(job, state=progress.state, is_last=job == last[job.kind])
                for job in progress.jobs
            ],
            relayed=RelayTotals.of(progress.relayed),
        )
