"""Enrolment: tokens with which a person contributes once, or gets one report token."""

from uuid import UUID

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from blender_dp.server.problems import Problem
from blender_dp.service.campaign import State
from blender_dp.service.http.access import new_token, token_digest
from blender_dp.service.http.messages import OneToken, Tokens, WantedEnrolments
from blender_dp.service.http.routes.asking import StrictRequest, address_of, operator
from blender_dp.service.http.routes.campaigns import ONE
from blender_dp.service.http.routes.refusals import WITH_BODY, WITH_TOKEN, refusals
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Token

_REFUSED = (Problem.UNKNOWN_CAMPAIGN, Problem.NOT_COLLECTING)


@post(
    ONE + "/enrolments",
    operation_id="create_enrolments",
    **operator,
    tags=["opt-in"],
    responses=refusals(*WITH_BODY, *WITH_TOKEN, *_REFUSED),
)
async def create_enrolments(
    campaign_id: FromPath[UUID],
    data: JSONBody[WantedEnrolments],
    actor: NamedDependency[Token],
    service: NamedDependency[ServiceState],
) -> Tokens:
    """Create enrolment tokens for people; each allows one contribution or one report token."""
    tokens = [new_token(service.dependencies.random_bytes) for _ in range(data.count)]
    digests = [token_digest(token) for token in tokens]
    await service.dependencies.store.add_enrolments(campaign_id, digests)
    await service.dependencies.store.note(
        "enrolments", actor=actor.name, campaign_id=campaign_id, now=service.dependencies.now()
    )
    return Tokens(tokens=tokens)


@post(
    ONE + "/enrol",
    operation_id="enrol",
    tags=["opt-in"],
    responses=refusals(*_REFUSED, Problem.ENROLMENT_CLOSED, Problem.TOO_MANY_REQUESTS),
)
async def enrol(
    campaign_id: FromPath[UUID], request: StrictRequest, service: NamedDependency[ServiceState]
) -> OneToken:
    """Return an enrolment token if the campaign has open enrolment and people may enrol now.

    That is while its opt-in side is open and, if this service issues its report tokens, until the
    clients' side is closed.
    """
    service.enrol_limit.take(address_of(request))
    campaign = await service.dependencies.store.campaign(campaign_id)
    if not campaign.open_enrolment:
        raise Problem.ENROLMENT_CLOSED.error()
    if campaign.state is State.DRAFT or campaign.state not in campaign.enrolling:
        raise Problem.NOT_COLLECTING.error()
    token = new_token(service.dependencies.random_bytes)
    await service.dependencies.store.add_enrolments(campaign_id, [token_digest(token)])
    return OneToken(token=token)
