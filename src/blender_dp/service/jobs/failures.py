"""Why a job cannot succeed: a closed list, because a failure is shown and stored."""

from enum import StrEnum

from blender_dp.core.errors import BlenderError


class Failure(StrEnum):
    """What an operator is told."""

    TOO_FEW_OPT_IN_USERS = "too-few-opt-in-users"
    """Fewer than three contributed: nothing can be estimated."""
    EMPTY_HEAD_LIST = "empty-head-list"
    """No record is popular enough to be named under the promise."""
    TOO_FEW_REPORTS = "too-few-reports"
    """Fewer than two clients reported, or all were asked for the query only."""
    PROMISE_BROKEN = "promise-broken"
    """The certificate says that more would be spent than was promised."""
    KEY_DESTROYED = "key-destroyed"
    """The campaign's key is gone: its records cannot be read."""
    DRAWN_ALREADY = "drawn-already"
    """The key vault knows another result of this campaign: a second one would break the promise."""
    TOO_MUCH_FOR_MEMORY = "too-much-for-memory"
    """The records do not fit this machine's memory, and never go to disk."""
    GAVE_UP = "gave-up"
    """It failed again and again for reasons of its own; the logs name the kind of error."""


class JobError(BlenderError):
    """A job that cannot succeed, however often it is tried."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(f"the job cannot be done: {failure}")
