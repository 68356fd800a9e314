"""Jobs as a store knows them: how far each is, and who may finish it."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from blender_dp.service.campaign import JobKind


class JobState(StrEnum):
    """How far a job is."""

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
    """How often its holder showed to be alive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningJob:
    """A job that somebody holds, as others see it: equal for as long as nothing changes."""

    id: int
    owner: str
    attempts: int
    renewal: str
    """The mark that the holder changes while it lives."""
