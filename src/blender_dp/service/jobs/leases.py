"""Jobs and their leases, and a worker's memory of jobs between two reads of the store.

A holder changes a mark in the job's row while it runs. A worker that sees the same mark for long
enough takes the job over. No time is stored or compared with another machine's: a clock that jumps
neither takes a job from a running worker nor leaves it with a dead one.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from blender_dp.service.campaign import JobKind

_FIRST_PAUSE_SECONDS = 60.0
_LONGEST_PAUSE_SECONDS = 900.0
_FIRST_WAIT_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 15.0


class JobState(StrEnum):
    """State of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work for a campaign."""

    id: int
    campaign: UUID
    kind: JobKind
    state: JobState
    attempts: int
    failure: str | None
    """A code from a closed list, never a message with content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to finish a job, until another takes it over."""

    job: Job
    owner: str
    renewals: int = 0
    """Number of renewals by the holder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningJob:
    """A job that a worker holds; compares equal until the holder renews it."""

    id: int
    owner: str
    attempts: int
    renewal: str
    """Mark that the holder changes at every renewal."""


class LeaseWatch:
    """Jobs that workers hold, and the time since each was renewed, by this process's clock."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        """Start with no jobs.

        Args:
            elapsed: Seconds on a clock that only goes forward.
        """
        self._elapsed = elapsed
        self._since: dict[RunningJob, float] = {}
        self._first: dict[int, RunningJob] = {}

    def look(self, running: Sequence[RunningJob]) -> None:
        """Take over the list of all jobs that run now."""
        now = self._elapsed()
        self._since = {one: self._since.get(one, now) for one in running}
        self._first = {one.id: self._first.get(one.id, one) for one in running}

    def not_renewed_for(self, seconds: float) -> Sequence[RunningJob]:
        """Return the jobs whose mark did not change for ``seconds`` or more, oldest first."""
        now = self._elapsed()
        return [one for one, since in self._since.items() if now - since >= seconds]

    def are_undecided(self, owner: str) -> bool:
        """Tell whether a worker other than ``owner`` holds a job that it has not renewed yet."""
        return any(self._first[one.id] == one and one.owner != owner for one in self._since)


class PostponedJobs:
    """Jobs that a worker gave back because the store was busy, or because they wait for a relay.

    A long reader, for instance a backup, can block an erasure for hours. Every attempt disturbs
    writers, so the pauses grow. Each process has its own pauses.
    """

    def __init__(self, elapsed: Callable[[], float]) -> None:
        """Start with no jobs.

        Args:
            elapsed: Seconds on a clock that only goes forward.
        """
        self._elapsed = elapsed
        self._pauses: dict[int, float] = {}
        self._due: dict[int, float] = {}
        self._busy: set[int] = set()

    def add(self, job: int) -> None:
        """Postpone a job because the store is busy; the pause grows each time."""
        self._busy.add(job)
        self._postpone(job, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)

    def await_others(self, job: int) -> None:
        """Postpone a job that waits for somebody outside the service; the pauses stay short."""
        self._postpone(job, _FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)

    def _postpone(self, job: int, first: float, longest: float) -> None:
        pause = min(2 * self._pauses.get(job, first / 2), longest)
        self._pauses[job] = pause
        self._due[job] = self._elapsed() + pause

    def not_due(self) -> Collection[int]:
        """Return the jobs that must still wait."""
        now = self._elapsed()
        return [job for job, due in self._due.items() if now < due]

    def are_busy(self) -> bool:
        """Tell whether the store was too busy for a job that must still wait."""
        return not self._busy.isdisjoint(self.not_due())

    def forget(self, job: int) -> None:
        """Forget a job that ended."""
        self._busy.discard(job)
        self._pauses.pop(job, None)
        self._due.pop(job, None)
