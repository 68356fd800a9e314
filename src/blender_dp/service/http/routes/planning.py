"""Planner route, for every role: predicts the result of a campaign."""

from typing import Any

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from blender_dp.core.errors import BlenderError
from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.dependencies import TooMuchWorkError
from blender_dp.service.http.messages import Question
from blender_dp.service.http.routes.asking import (
    StrictRequest,
    address_of,
    any_role,
)
from blender_dp.service.http.routes.refusals import WITH_BODY, WITH_TOKEN, refusals
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Token


@post(
    "/v1/plan",
    operation_id="plan",
    status_code=200,
    **any_role,
    tags=["planning"],
    responses=refusals(
        *(*WITH_BODY, *WITH_TOKEN, Problem.PARAMETERS_REFUSED),
        *(Problem.PLANNER_MISSING, Problem.PLAN_TOO_LARGE),
    ),
)
async def plan(
    data: JSONBody[Question],
    actor: NamedDependency[Token],  # noqa: ARG001 - admits
    request: StrictRequest,
    service: NamedDependency[ServiceState],
) -> Response[dict[str, Any]]:
    """Predict the result of a collection from public numbers only; takes some seconds.

    One question is answered at a time, in at most a minute.
    """
    if service.dependencies.predict is None:
        raise Problem.PLANNER_MISSING.error()
    service.plan_limit.take(address_of(request))
    try:
        found = await service.plan_turns.run(
            service.dependencies.predict, msgspec.to_builtins(data)
        )
    except ProblemError:
        raise
    except TooMuchWorkError:
        raise Problem.PLAN_TOO_LARGE.error() from None
    except (BlenderError, MemoryError):
        raise Problem.PARAMETERS_REFUSED.error() from None
    return Response(dict(found))
