"""Reasons for which a job fails: a closed list, because a failure is shown and stored."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from blender_dp.core.errors import BlenderError
from blender_dp.service.campaign import JobKind, State
from blender_dp.service.jobs.leases import Job


class Failure(StrEnum):
    """Reason of a failed job, as the operator sees it."""

    TOO_FEW_OPT_IN_USERS = "too-few-opt-in-users"
    """Fewer than three people contributed: nothing can be estimated."""
    EMPTY_HEAD_LIST = "empty-head-list"
    """No record is popular enough to be named under the promise."""
    TOO_FEW_REPORTS = "too-few-reports"
    """Fewer than two clients reported, or all were asked for the query only."""
    PROMISE_BROKEN = "promise-broken"
    """By the certificate the privacy cost would be above the promise."""
    KEY_DESTROYED = "key-destroyed"
    """The campaign's key is gone: its records cannot be read."""
    DRAWN_ALREADY = "drawn-already"
    """The key vault recorded another result of this campaign; a second would break the promise."""
    GAVE_UP = "gave-up"
    """The job failed several times on this machine: too little memory or disk, or a fault."""
    PROCESS_DIED = "process-died"
    """The process that ran the job died several times, for instance for lack of memory."""

    @property
    def is_final(self) -> bool:
        """Whether no retry can help; data that only this job needs are then erased at once."""
        return self not in PASSING

    @property
    def advice(self) -> str:
        """Advice to the operator."""
        return _ADVICE[self]


PASSING = frozenset({Failure.GAVE_UP, Failure.PROCESS_DIED})
"""Failures after which an operator may retry the job: its data are kept."""
_ADVICE: Mapping[Failure, str] = MappingProxyType(
    {
        Failure.TOO_FEW_OPT_IN_USERS: "A job erases its records. Purge the campaign and make "
        "another one with more opt-in users.",
        Failure.EMPTY_HEAD_LIST: "A job erases its records. Purge the campaign and make another "
        "one with more opt-in users or a larger ε.",
        Failure.TOO_FEW_REPORTS: "The list stays published. Purge the campaign and make another "
        "one with more clients.",
        Failure.PROMISE_BROKEN: "Nothing was published; a job erases its records. Purge the "
        "campaign and report the fault to the makers of this software.",
        Failure.KEY_DESTROYED: "A job erases its records. If this database was restored from a "
        "backup, the list was published before. Purge the campaign.",
        Failure.DRAWN_ALREADY: "A job erases its records. This database was restored from a "
        "backup, or the software was changed since. Purge the campaign.",
        Failure.GAVE_UP: "Find the cause in the logs, remove it and retry the job; or purge the "
        "campaign, which erases its records.",
        Failure.PROCESS_DIED: "Find out what ended the process (the system's log), remove the "
        "cause and retry the job; or purge the campaign, which erases its records.",
    }
)


def is_release_over(state: State, jobs: Sequence[Job]) -> bool:
    """Tell whether nothing can be released any more: relayed reports are not needed then.

    While a release waits for the relay, an erasure that was put off may still run.
    """
    if state is not State.CLIENTS_SEALED:
        return state in (State.RELEASED, State.PURGED)
    last = next((job for job in reversed(jobs) if job.kind is JobKind.RELEASE), None)
    return last is not None and last.failure is not None and last.failure not in PASSING


class NotYetError(BlenderError):
    """A job must wait for somebody outside the service; the attempt does not count."""

    def __init__(self) -> None:
        super().__init__("the job must wait for the relay")


class JobError(BlenderError):
    """A job that cannot succeed, however often it is tried."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(f"the job cannot be done: {failure}")
