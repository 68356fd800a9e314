"""Health, metrics, and the name and role of a token."""

from importlib.metadata import version

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec

from blender_dp.server.problems import RETRY_SECONDS
from blender_dp.service.http.access import ANY_ROLE
from blender_dp.service.http.messages import Health, Taker
from blender_dp.service.http.routes.asking import StrictRequest, admit_request, any_role
from blender_dp.service.http.routes.refusals import WITH_TOKEN, refusals
from blender_dp.service.operation.metrics import MEDIA_TYPE
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Token


@get(
    "/health",
    operation_id="health",
    tags=["watching"],
    responses={
        **refusals(),
        503: ResponseSpec(
            Health, description="degraded: reports cannot be stored safely", generate_examples=False
        ),
    },
)
async def health(service: NamedDependency[ServiceState]) -> Response[Health]:
    """Return whether the service works and, if it is degraded, why.

    The status is 503 if reports cannot be stored safely, so that a load balancer sends them
    elsewhere. Otherwise it is 200, even if the service is degraded. The answer is at most some
    seconds old.
    """
    found = await service.condition.current()
    return Response(
        Health(
            status="degraded" if found.troubles else "ok",
            reasons=list(found.troubles),
            version=version("blender-dp"),
        ),
        status_code=200 if found.takes_reports else 503,
        headers={} if found.takes_reports else {"retry-after": str(RETRY_SECONDS)},
    )


@get(
    "/metrics",
    operation_id="metrics",
    tags=["watching"],
    media_type="text/plain",
    responses=refusals(*WITH_TOKEN),
)
async def metrics(request: StrictRequest, service: NamedDependency[ServiceState]) -> Response[str]:
    """Return figures for Prometheus; none is about a record.

    An option of the service makes them need a token, of any role.
    """
    if service.dependencies.metrics_need_token:
        await admit_request(request, ANY_ROLE)
    await service.condition.current()
    return Response(service.dependencies.metrics.text().decode(), media_type=MEDIA_TYPE)


@get(
    "/v1/whoami",
    operation_id="whoami",
    **any_role,
    tags=["watching"],
    responses=refusals(*WITH_TOKEN),
)
async def whoami(actor: NamedDependency[Token]) -> Taker:
    """Return the name and role of a token."""
    return Taker(name=actor.name, role=actor.role)
