"""Report tokens: one for each enrolment, signed without being seen."""

import hashlib
from uuid import UUID

from litestar import post
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler
from litestar.params import FromPath, JSONBody

from blender_dp.server.problems import Problem
from blender_dp.service.campaign import TOKENS_ISSUED
from blender_dp.service.http.messages import IssuedToken, WantedToken
from blender_dp.service.http.routes.asking import (
    BEARER,
    Asking,
    StrictRequest,
    admit_enrolment,
    enrolment_of,
)
from blender_dp.service.http.routes.campaigns import ONE
from blender_dp.service.http.routes.refusals import WITH_BODY, refusals
from blender_dp.service.state import ServiceState
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.tokens.blind_rsa import BlindSignatureError
from blender_dp.wire.tokens.report_token import REQUEST_BYTES, blinded_message_in


async def _require_enrolment(request: Asking, _handler: BaseRouteHandler) -> None:
    """Refuse, before the body is read, an enrolment that gets no report token here and now."""
    service: ServiceState = request.app.state.service
    enrolment_of(request)  # a token must be there, whatever the campaign
    campaign = await service.dependencies.store.campaign(request.path_params["campaign_id"])
    if not campaign.issues_tokens:
        raise Problem.NO_REPORT_TOKENS.error()
    if campaign.state not in TOKENS_ISSUED:
        raise Problem.NOT_COLLECTING.error()
    await admit_enrolment(request)


@post(
    ONE + "/report-token",
    operation_id="issue_report_token",
    guards=[_require_enrolment],
    security=BEARER,
    status_code=200,
    tags=["reports"],
    responses=refusals(
        *(*WITH_BODY, Problem.UNKNOWN_CAMPAIGN, Problem.NO_REPORT_TOKENS, Problem.NOT_COLLECTING),
        *(Problem.TOKEN_MISSING, Problem.TOKEN_UNKNOWN, Problem.TOO_MANY_REQUESTS),
        *(Problem.TOKEN_ISSUED, Problem.ALREADY_CONTRIBUTED, Problem.TOKEN_REQUEST_REFUSED),
        Problem.KEYS_GONE,
    ),
)
async def issue_report_token(
    campaign_id: FromPath[UUID],
    data: JSONBody[WantedToken],
    request: StrictRequest,
    service: NamedDependency[ServiceState],
) -> IssuedToken:
    """Sign the blinded token of an enrolment; it cannot be linked to the report that carries it.

    The same request again gets the same answer; another request of the same enrolment is refused.
    """
    listed = await service.lists.signer(campaign_id)
    asked = from_text(data.request, REQUEST_BYTES)
    try:
        blinded = blinded_message_in(asked or b"", listed.key)
        listed.signer.require_signable(blinded)
    except BlindSignatureError:
        raise Problem.TOKEN_REQUEST_REFUSED.error() from None
    digest = hashlib.sha256(blinded).digest()
    await service.dependencies.store.issue_token(campaign_id, enrolment_of(request), digest)
    # Signed after it is stored: whoever gets no answer asks again, and nobody gets a second token.
    return IssuedToken(
        response=to_text(await service.body_threads.run(listed.signer.sign, blinded))
    )
