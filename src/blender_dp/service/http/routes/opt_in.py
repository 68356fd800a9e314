"""Contributions of opt-in users: accepted once, withdrawn while the side is open, never shown."""

from typing import Any
from uuid import UUID

import msgspec
from litestar import Response, delete, post
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, JSONBody

from blender_dp.core.errors import InputError
from blender_dp.server.problems import Problem
from blender_dp.service.campaign import Campaign, State
from blender_dp.service.http.messages import Contributed, NewContribution
from blender_dp.service.http.routes.asking import (
    BEARER,
    Asking,
    StrictRequest,
    admit_enrolment,
    enrolment_of,
)
from blender_dp.service.http.routes.campaigns import ONE
from blender_dp.service.http.routes.refusals import WITH_BODY, refusals
from blender_dp.service.keys.encrypted_records import encrypt_contribution
from blender_dp.service.keys.key_vault import KeyDestroyedError
from blender_dp.service.state import ServiceState
from blender_dp.wire.service.contribution import (
    MOST_BYTES,
    Contribution,
    consent_digest,
    read_contribution,
)

_PATH = ONE + "/opt-in"
_REFUSED = (
    *(Problem.UNKNOWN_CAMPAIGN, Problem.NOT_COLLECTING, Problem.WITHDRAWN),
    *(Problem.TOKEN_MISSING, Problem.TOKEN_UNKNOWN, Problem.TOO_MANY_REQUESTS),
)


async def _require_enrolment(request: Asking, _handler: BaseRouteHandler) -> None:
    """Refuse, before the body is read, a token that may not contribute or withdraw now."""
    service: ServiceState = request.app.state.service
    enrolment_of(request)  # a token must be there, whatever the campaign
    campaign = await service.dependencies.store.campaign(request.path_params["campaign_id"])
    if campaign.state is not State.OPT_IN_OPEN:
        raise Problem.NOT_COLLECTING.error()
    await admit_enrolment(request)


@post(
    _PATH,
    operation_id="contribute",
    guards=[_require_enrolment],
    security=BEARER,
    tags=["opt-in"],
    most_bytes=MOST_BYTES,
    responses={
        200: ResponseSpec(Contributed, description="There already.", generate_examples=False),
        **refusals(
            *(*WITH_BODY, *_REFUSED, Problem.ALREADY_CONTRIBUTED),
            *(Problem.ANOTHER_CONSENT, Problem.CONTRIBUTION_REFUSED, Problem.KEYS_GONE),
        ),
    },
)
async def contribute(
    campaign_id: FromPath[UUID],
    data: JSONBody[NewContribution],
    request: StrictRequest,
    service: NamedDependency[ServiceState],
) -> Response[Contributed]:
    """Take the records of one enrolment, encrypted before they are stored.

    The same body again is accepted and changes nothing; another body is refused.
    """
    enrolment = enrolment_of(request)
    contribution = _check(data, await service.dependencies.store.campaign(campaign_id))
    try:
        encrypted = encrypt_contribution(
            service.dependencies.keys, campaign_id, enrolment, contribution
        )
    except KeyDestroyedError:
        raise Problem.NOT_COLLECTING.error() from None
    is_new = await service.dependencies.store.contribute(campaign_id, encrypted)
    return Response(Contributed(repeated=not is_new), status_code=201 if is_new else 200)


@delete(
    _PATH,
    operation_id="withdraw",
    guards=[_require_enrolment],
    security=BEARER,
    tags=["opt-in"],
    responses=refusals(*_REFUSED),
)
async def withdraw(
    campaign_id: FromPath[UUID], request: StrictRequest, service: NamedDependency[ServiceState]
) -> None:
    """Delete a contribution for good, while the opt-in side is open."""
    await service.dependencies.store.withdraw(campaign_id, enrolment_of(request))


def _check(data: NewContribution, campaign: Campaign) -> Contribution:
    document: dict[str, Any] = msgspec.to_builtins(data)
    try:
        contribution = read_contribution(document)
    except InputError:
        raise Problem.CONTRIBUTION_REFUSED.error() from None
    given, asked = contribution.consent, campaign.consent
    if (given.version, given.text_digest) != (asked.version, consent_digest(asked.text)):
        raise Problem.ANOTHER_CONSENT.error()
    return contribution
