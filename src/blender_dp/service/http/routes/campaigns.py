"""Routes of campaigns: create, edit, list, read, move, progress and retry."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Annotated, Any
from uuid import UUID

from litestar import Response, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, HeaderParameter, JSONBody, QueryParameter

from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.group_sizes import FEWEST_OPT_IN
from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.campaign import MADE_BY_JOBS, Campaign, Move, State
from blender_dp.service.campaign_relay import drawn_parameters
from blender_dp.service.http.campaign_messages import NewCampaign, ShownCampaign, ShownCampaigns
from blender_dp.service.http.messages import WantedMove, WantedRetry
from blender_dp.service.http.routes.asking import any_role, operator
from blender_dp.service.http.routes.refusals import WITH_BODY, WITH_TOKEN, refusals
from blender_dp.service.http.shown_progress import ShownProgress
from blender_dp.service.jobs.failures import PASSING
from blender_dp.service.shown_texts import UnreadableTextError
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import ANY_DESCRIPTION, Document, StoreRefusal, Token
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.documents.fields import LARGEST, Fields
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.published.parameters import read_parameters

PATH = "/v1/campaigns"
ONE = PATH + "/{campaign_id:uuid}"
_TOO_MUCH = (Problem.PARAMETERS_REFUSED, Problem.PROMISE_BROKEN)
_TAGS = re.compile(r'\s*(W/)?"[^"]*"(\s*,\s*(W/)?"[^"]*")*\s*')
_STRONG_TAG = re.compile(r'(?<!W/)"([^"]*)"')


@contextmanager
def _as_problem() -> Iterator[None]:
    """Answer a parameter out of its range with its name."""
    try:
        yield
    except UnreadableTextError as error:
        raise Problem.UNREADABLE_TEXT.error(where=error.name) from None
    except ParameterError as error:
        raise Problem.PARAMETERS_REFUSED.error(where=error.name) from None


async def show_campaign(service: ServiceState, campaign: Campaign) -> ShownCampaign:
    """Return a campaign with its description and, if it keeps its promise, its privacy cost."""
    try:
        plans = [await service.plan_certificate(one) for one in await _possible(service, campaign)]
        certificate = max(plans, key=_presence_epsilon)
    except ProblemError:  # a version of this software later than the campaign's found that
        certificate = None
    return ShownCampaign.of(
        campaign, await service.dependencies.store.description(campaign.id), certificate
    )


async def _possible(service: ServiceState, campaign: Campaign) -> Sequence[Parameters]:
    """Return the parameters that the list is drawn with: several while nobody knows who opts in."""
    store = service.dependencies.store
    published = await store.document(campaign.id, Document.CERTIFICATE)
    if published is not None:
        stated = Fields("certificate", read_object("certificate", published))
        return [read_parameters(stated.part("parameters"))]
    of, relay = campaign.parameters, campaign.relay
    numbers = [FEWEST_OPT_IN, LARGEST]
    if campaign.state is State.OPT_IN_SEALED:
        numbers = [(await store.progress(campaign.id)).contributed]
    return list(dict.fromkeys(drawn_parameters(of, relay, opt_in_users=n) for n in numbers))


def _presence_epsilon(certificate: Mapping[str, Any]) -> float:
    """Return the largest ε of an account if a user is added or removed."""
    spent = [account["add_remove_epsilon"] for account in certificate["accounts"]]
    return max(inf if one is None else float(one) for one in spent)


async def _tagged(service: ServiceState, campaign: Campaign) -> Response[ShownCampaign]:
    """Return a campaign with its tag: the digest of all that an edit changes."""
    shown = await show_campaign(service, campaign)
    return Response(shown, headers={"etag": f'"{digest_of(shown.description or {})}"'})


def _replaceable(if_match: str | None) -> frozenset[str] | None:
    """Return the descriptions that may be replaced, by digest; None if none may."""
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return ANY_DESCRIPTION
    if not _TAGS.fullmatch(if_match):
        raise Problem.REQUEST_NOT_UNDERSTOOD.error(where="if-match")
    return frozenset(_STRONG_TAG.findall(if_match))


@post(
    PATH,
    operation_id="create_campaign",
    **operator,
    tags=["campaigns"],
    responses=refusals(*WITH_BODY, *WITH_TOKEN, *_TOO_MUCH, Problem.UNREADABLE_TEXT),
)
async def create_campaign(
    data: JSONBody[NewCampaign],
    actor: NamedDependency[Token],
    service: NamedDependency[ServiceState],
) -> Response[ShownCampaign]:
    """Make a campaign in draft.

    Parameters are checked and their privacy cost is computed. A campaign that costs more than it
    promises is refused, and so is one with a larger δ than the service allows.
    """
    campaign_id = UUID(bytes=service.dependencies.random_bytes(16), version=4)
    return await _put(campaign_id, data, actor, service)


@put(
    ONE,
    operation_id="put_campaign",
    **operator,
    tags=["campaigns"],
    responses=refusals(
        *(*WITH_BODY, *WITH_TOKEN, *_TOO_MUCH, Problem.UNREADABLE_TEXT),
        *(Problem.UNKNOWN_CAMPAIGN, Problem.NOT_A_DRAFT, Problem.DRAFT_CHANGED),
    ),
)
async def put_campaign(
    campaign_id: FromPath[UUID],
    data: JSONBody[NewCampaign],
    actor: NamedDependency[Token],
    service: NamedDependency[ServiceState],
    if_match: Annotated[
        str | None,
        HeaderParameter(
            name="If-Match",
            description="The ETag of the draft that is changed; left out, a campaign is made.",
        ),
    ] = None,
) -> Response[ShownCampaign]:
    """Make a campaign under an id that the caller drew at random, or change it while it is a draft.

    Without If-Match the campaign is made, and an existing one with another content is left alone.
    With it, the draft is changed if it is still the one that was read. The same request again
    changes nothing: a caller that got no answer may repeat it.
    """
    return await _put(campaign_id, data, actor, service, _replaceable(if_match))


async def _require_released(service: ServiceState, known: UUID | None) -> None:
    """Refuse a known campaign that has no release."""
    store = service.dependencies.store
    if known is None:
        return
    try:
        released = await store.document(known, Document.RELEASE)
    except StoreRefusal:
        released = None
    if released is None:
        raise Problem.PARAMETERS_REFUSED.error(where="known")


async def _put(
    campaign_id: UUID,
    data: NewCampaign,
    actor: Token,
    service: ServiceState,
    replaceable: frozenset[str] | None = None,
) -> Response[ShownCampaign]:
    with _as_problem():
        campaign = data.campaign(campaign_id, service.dependencies.now())
    service.require_allowed(campaign.parameters)
    await _require_released(service, campaign.known)
    await service.plan_certificate(campaign.parameters)
    with _as_problem():
        stored = await service.dependencies.store.put_campaign(
            campaign, actor=actor.name, replaceable=replaceable
        )
    return await _tagged(service, stored)


@get(
    PATH,
    operation_id="list_campaigns",
    **any_role,
    tags=["campaigns"],
    responses=refusals(*WITH_TOKEN, Problem.UNKNOWN_CAMPAIGN),
)
async def list_campaigns(
    actor: NamedDependency[Token],  # noqa: ARG001 - admits
    service: NamedDependency[ServiceState],
    after: Annotated[
        UUID | None, QueryParameter(description="The list begins after this one.")
    ] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> ShownCampaigns:
    """Return campaigns, newest first."""
    found = await service.dependencies.store.campaigns(after=after, limit=limit)
    return ShownCampaigns(campaigns=[ShownCampaign.of(campaign) for campaign in found])


@get(
    ONE,
    operation_id="read_campaign",
    tags=["campaigns"],
    responses=refusals(Problem.UNKNOWN_CAMPAIGN),
)
async def read_campaign(
    campaign_id: FromPath[UUID], service: NamedDependency[ServiceState]
) -> Response[ShownCampaign]:
    """Return a campaign: its purpose, its promise and its state."""
    return await _tagged(service, await service.dependencies.store.campaign(campaign_id))


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
    service: NamedDependency[ServiceState],
) -> ShownCampaign:
    """Move a campaign forward; no move goes back, and only jobs publish and release."""
    store, now = service.dependencies.store, service.dependencies.now()
    campaign = await store.campaign(campaign_id)
    if data.move in MADE_BY_JOBS:
        raise Problem.MOVE_NOT_ALLOWED.error()
    if data.move is Move.OPEN_OPT_IN:
        with _as_problem():
            campaign.require_collector()
            if campaign.state is State.DRAFT:
                campaign.require_possible_rules(now)
        service.require_allowed(campaign.parameters)
        await service.plan_certificate(campaign.parameters)
    moved = await store.move(campaign_id, data.move, origin=data.origin, actor=actor.name, now=now)
    return await show_campaign(service, moved)


@get(
    ONE + "/progress",
    operation_id="read_progress",
    **any_role,
    tags=["campaigns"],
    responses=refusals(*WITH_TOKEN, Problem.UNKNOWN_CAMPAIGN),
)
async def read_progress(
    campaign_id: FromPath[UUID],
    actor: NamedDependency[Token],  # noqa: ARG001 - admits
    service: NamedDependency[ServiceState],
) -> ShownProgress:
    """Return the progress of a campaign, in counts that name no record."""
    return ShownProgress.of(await service.dependencies.store.progress(campaign_id))


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
    service: NamedDependency[ServiceState],
) -> ShownProgress:
    """Retry a job that gave up or whose process died; first remove the cause."""
    store, now = service.dependencies.store, service.dependencies.now()
    await store.retry_job(campaign_id, data.kind, after=PASSING, actor=actor.name, now=now)
    return ShownProgress.of(await store.progress(campaign_id))
