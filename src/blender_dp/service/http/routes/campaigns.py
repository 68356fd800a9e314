"""Campaigns: made, listed, read, moved, watched."""

from typing import Annotated
from uuid import UUID

from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from blender_dp.core.errors import ParameterError
from blender_dp.service.campaign import MADE_BY_JOBS, Campaign, Move
from blender_dp.service.http.messages import (
    NewCampaign,
    ShownCampaign,
    ShownCampaigns,
    WantedMove,
    WantedRetry,
)
from blender_dp.service.http.routes.asking import anybody_with_a_role, operator
from blender_dp.service.http.routes.refusals import WITH_BODY, WITH_TOKEN, refusals
from blender_dp.service.http.shown_progress import ShownProgress
from blender_dp.service.jobs.failures import PASSING
from blender_dp.service.problems import Problem, ProblemError
from blender_dp.service.state import Desk
from blender_dp.service.storage.store import Token

PATH = "/v1/campaigns"
ONE = PATH + "/{campaign_id:uuid}"
_TOO_MUCH = (Problem.PARAMETERS_REFUSED, Problem.PROMISE_BROKEN)


async def shown(desk: Desk, campaign: Campaign) -> ShownCampaign:
    """Return a campaign with its description and what its plan spends, if it keeps its promise."""
    try:
        certificate = await desk.plan_certificate(campaign.parameters)
    except ProblemError:  # found by a later version than the one that made it
        certificate = None
    return ShownCampaign.of(campaign, await desk.parts.store.description(campaign.id), certificate)


@post(
    PATH,
    operation_id="create_campaign",
    **operator,
    tags=["campaigns"],
    responses=refusals(*WITH_BODY, *WITH_TOKEN, *_TOO_MUCH),
)
async def create_campaign(
    data: JSONBody[NewCampaign], actor: NamedDependency[Token], desk: NamedDependency[Desk]
) -> ShownCampaign:
    """Make a campaign in draft.

    Parameters are checked and what they spend is computed: above the promise there is none, and
    none with a larger δ than the service allows.
    """
    campaign_id = UUID(bytes=desk.parts.random_bytes(16), version=4)
    try:
        campaign = data.campaign(campaign_id, desk.parts.now())
    except ParameterError as error:
        raise Problem.PARAMETERS_REFUSED.error(where=error.name) from None
    desk.require_allowed(campaign.parameters)
    await desk.plan_certificate(campaign.parameters)
    await desk.parts.store.add_campaign(campaign, actor=actor.name)
    return await shown(desk, campaign)


@get(
    PATH,
    operation_id="list_campaigns",
    **anybody_with_a_role,
    tags=["campaigns"],
    responses=refusals(*WITH_TOKEN, Problem.UNKNOWN_CAMPAIGN),
)
async def list_campaigns(
    actor: NamedDependency[Token],  # noqa: ARG001 - admits
    desk: NamedDependency[Desk],
    after: Annotated[UUID | None, QueryParameter(description="From the one after this.")] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> ShownCampaigns:
    """Return campaigns, newest first."""
    found = await desk.parts.store.campaigns(after=after, limit=limit)
    return ShownCampaigns(campaigns=[ShownCampaign.of(campaign) for campaign in found])


@get(
    ONE,
    operation_id="read_campaign",
    tags=["campaigns"],
    responses=refusals(Problem.UNKNOWN_CAMPAIGN),
)
async def read_campaign(campaign_id: FromPath[UUID], desk: NamedDependency[Desk]) -> ShownCampaign:
    """Return a campaign: what it is for, what it promises and where it stands."""
    return await shown(desk, await desk.parts.store.campaign(campaign_id))


@post(
    ONE + "/moves",
    operation_id="move_campaign",
    status_code=200,
    **operator,
    tags=["campaigns"],
    responses=refusals(
        *(*WITH_BODY, *WITH_TOKEN, *_TOO_MUCH),
        *(Problem.UNKNOWN_CAMPAIGN, Problem.MOVE_NOT_ALLOWED),
    ),
)
async def move_campaign(
    campaign_id: FromPath[UUID],
    data: JSONBody[WantedMove],
    actor: NamedDependency[Token],
    desk: NamedDependency[Desk],
) -> ShownCampaign:
    """Move a campaign on; there is no way back, and jobs alone publish and release."""
    store = desk.parts.store
    campaign = await store.campaign(campaign_id)
    if data.move in MADE_BY_JOBS:
        raise Problem.MOVE_NOT_ALLOWED.error()
    if data.move is Move.OPEN_OPT_IN:
        desk.require_allowed(campaign.parameters)
        await desk.plan_certificate(campaign.parameters)
    moved = await store.move(
        campaign_id, data.move, origin=data.origin, actor=actor.name, now=desk.parts.now()
    )
    return await shown(desk, moved)


@get(
    ONE + "/progress",
    operation_id="read_progress",
    **anybody_with_a_role,
    tags=["campaigns"],
    responses=refusals(*WITH_TOKEN, Problem.UNKNOWN_CAMPAIGN),
)
async def read_progress(
    campaign_id: FromPath[UUID],
    actor: NamedDependency[Token],  # noqa: ARG001 - admits
    desk: NamedDependency[Desk],
) -> ShownProgress:
    """Return how far a campaign is, in counts that name no record."""
    return ShownProgress.of(await desk.parts.store.progress(campaign_id))


@post(
    ONE + "/retries",
    operation_id="retry_job",
    status_code=200,
    **operator,
    tags=["campaigns"],
    responses=refusals(
        *(*WITH_BODY, *WITH_TOKEN),
        *(Problem.UNKNOWN_CAMPAIGN, Problem.JOB_NOT_RETRIABLE),
    ),
)
async def retry_job(
    campaign_id: FromPath[UUID],
    data: JSONBody[WantedRetry],
    actor: NamedDependency[Token],
    desk: NamedDependency[Desk],
) -> ShownProgress:
    """Try a job again that gave up or whose process died, once the cause is gone."""
    store, now = desk.parts.store, desk.parts.now()
    await store.retry_job(campaign_id, data.kind, after=PASSING, actor=actor.name, now=now)
    return ShownProgress.of(await store.progress(campaign_id))
