"""Health, metrics, and who somebody is."""

from importlib.metadata import version

from litestar import Response, get
from litestar.di import NamedDependency

from blender_dp.service.access import ANY_ROLE
from blender_dp.service.desk import Desk
from blender_dp.service.messages import Health, Taker
from blender_dp.service.metrics import MEDIA_TYPE
from blender_dp.service.problems import RETRY_SECONDS, Problem
from blender_dp.service.routes.asking import StrictRequest, admitted, anybody_with_a_role
from blender_dp.service.routes.refusals import WITH_TOKEN, refusals
from blender_dp.service.store import Token


@get("/health", operation_id="health", tags=["watching"], responses=refusals())
async def health(desk: NamedDependency[Desk]) -> Health:
    """Say that the service works and its database answers."""
    try:
        await desk.parts.store.ping()
    except Exception as error:  # noqa: BLE001 - whatever it is, the answer is the same
        desk.parts.metrics.store_is_up(is_up=False)
        desk.journal.failure("health", error)
        raise Problem.STORE_UNAVAILABLE.error(retry_after=RETRY_SECONDS) from None
    desk.parts.metrics.store_is_up(is_up=True)
    return Health(status="ok", version=version("blender-dp"))


@get(
    "/metrics",
    operation_id="metrics",
    tags=["watching"],
    media_type="text/plain",
    responses=refusals(*WITH_TOKEN),
)
async def metrics(request: StrictRequest, desk: NamedDependency[Desk]) -> Response[str]:
    """Return figures for Prometheus; none is about a record.

    A service may be started such that they need a token of any role.
    """
    if desk.parts.metrics_need_token:
        await admitted(request, ANY_ROLE)
    return Response(desk.parts.metrics.text().decode(), media_type=MEDIA_TYPE)


@get(
    "/v1/whoami",
    operation_id="whoami",
    **anybody_with_a_role,
    tags=["watching"],
    responses=refusals(*WITH_TOKEN),
)
async def whoami(actor: NamedDependency[Token]) -> Taker:
    """Return the name and role of a token."""
    return Taker(name=actor.name, role=actor.role)
