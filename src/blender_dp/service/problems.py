"""Problems of the store's refusals."""

from collections.abc import Mapping
from types import MappingProxyType

from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError
from blender_dp.service.storage.store import Reason

_OF_STORE: Mapping[Reason, Problem] = MappingProxyType(
    {
        Reason.UNKNOWN_CAMPAIGN: Problem.UNKNOWN_CAMPAIGN,
        Reason.NOT_A_DRAFT: Problem.NOT_A_DRAFT,
        Reason.DRAFT_CHANGED: Problem.DRAFT_CHANGED,
        Reason.MOVE_NOT_ALLOWED: Problem.MOVE_NOT_ALLOWED,
        Reason.JOB_NOT_RETRIABLE: Problem.JOB_NOT_RETRIABLE,
        Reason.NOT_COLLECTING: Problem.NOT_COLLECTING,
        Reason.UNKNOWN_ENROLMENT: Problem.TOKEN_UNKNOWN,
        Reason.ALREADY_CONTRIBUTED: Problem.ALREADY_CONTRIBUTED,
        Reason.WITHDRAWN: Problem.WITHDRAWN,
        Reason.TOKEN_ISSUED: Problem.TOKEN_ISSUED,
        Reason.REPORT_ID_REUSED: Problem.REPORT_ID_REUSED,
        Reason.OVERLOADED: Problem.OVERLOADED,
        Reason.BATCH_CHANGED: Problem.BATCH_CHANGED,
    }
)


def of_store(reason: Reason) -> ProblemError:
    """Return the problem of a refusal by the store."""
    problem = _OF_STORE.get(reason, Problem.INTERNAL_ERROR)
    is_passing = problem.kind.status == 503
    return problem.error(retry_after=RETRY_SECONDS if is_passing else None)
