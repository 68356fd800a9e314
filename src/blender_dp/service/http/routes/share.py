"""Share page of a campaign: HTML, its style, its QR code and an invitation to copy."""

import json
import re
from uuid import UUID

from litestar import MediaType, Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.http.routes.asking import StrictRequest
from blender_dp.service.share_page.page import (
    NO_SUCH_PAGE,
    SharePage,
    qr_code,
    read_asset,
)
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Document, Reason, StoreRefusal

_PATH = "/join"
_ONE = _PATH + "/{campaign_id:uuid}"
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?|\[[0-9a-fA-F:.]{2,45}\](:\d{1,5})?")
_THIS_MACHINE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
_FRESH = {"cache-control": "no-store"}


@get(_ONE, include_in_schema=False)
async def read_share_page(
    campaign_id: FromPath[UUID], request: StrictRequest, service: NamedDependency[ServiceState]
) -> Response[str]:
    """Return what a person reads before they decide."""
    try:
        page = (await _page(campaign_id, request, service)).html()
        status = 200
    except StoreRefusal as refusal:
        if refusal.reason is not Reason.UNKNOWN_CAMPAIGN:
            raise
        page, status = NO_SUCH_PAGE, 404
    return Response(page, media_type=MediaType.HTML, headers=_FRESH, status_code=status)


@get(_ONE + "/invitation.txt", include_in_schema=False)
async def read_invitation(
    campaign_id: FromPath[UUID], request: StrictRequest, service: NamedDependency[ServiceState]
) -> Response[str]:
    """Return a text with the link, to be sent to people."""
    page = await _page(campaign_id, request, service)
    return Response(page.invitation(), media_type=MediaType.TEXT, headers=_FRESH)


@get(_ONE + "/qr.svg", include_in_schema=False)
async def read_qr_code(
    campaign_id: FromPath[UUID], request: StrictRequest, service: NamedDependency[ServiceState]
) -> Response[bytes]:
    """Return the link as a QR code."""
    page = await _page(campaign_id, request, service)
    return Response(qr_code(page.link), media_type="image/svg+xml", headers=_FRESH)


@get(_PATH + "/style.css", include_in_schema=False, sync_to_thread=False)
def read_style() -> Response[str]:
    """Return the style of the page."""
    return Response(read_asset("style.css"), media_type=MediaType.CSS)


async def _page(campaign_id: UUID, request: StrictRequest, service: ServiceState) -> SharePage:
    store = service.dependencies.store
    campaign = await store.campaign(campaign_id)
    return SharePage(
        campaign=campaign,
        link=_origin(request) + f"{_PATH}/{campaign_id}",
        has_release=await store.document(campaign_id, Document.RELEASE) is not None,
        relay_epsilon=None
        if campaign.relay is None
        else await _relay_epsilon(service, campaign_id),
    )


async def _relay_epsilon(service: ServiceState, campaign_id: UUID) -> float | None:
    """Return ε0 of the published list; None if there is no list yet."""
    try:
        published = await service.lists.get(campaign_id)
    except ProblemError:
        return None
    return float(json.loads(published.body)["head_list"]["relay"]["report_epsilon"])


def _origin(request: StrictRequest) -> str:
    """Return the service's address as the request names it.

    Devices take an address without encryption on their own machine only; a front end that speaks
    HTTPS is not always known here.
    """
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise Problem.REQUEST_NOT_UNDERSTOOD.error(where="host")
    is_here = _THIS_MACHINE.fullmatch(host) is not None
    return f"{request.url.scheme if is_here else 'https'}://{host}"


HANDLERS = (read_share_page, read_invitation, read_qr_code, read_style)
