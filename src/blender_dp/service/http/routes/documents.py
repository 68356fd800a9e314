"""Documents that a campaign publishes: signed list, estimates, certificate and release."""

from typing import Any
from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.params import FromPath

from blender_dp.server.problems import Problem
from blender_dp.service.http.routes.asking import StrictRequest
from blender_dp.service.http.routes.campaigns import ONE
from blender_dp.service.http.routes.refusals import refusals
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Document
from blender_dp.wire.documents.document import digest_of_bytes

CACHED = "public, max-age=300"
MISSING = (Problem.UNKNOWN_CAMPAIGN, Problem.NOT_PUBLISHED)
_UNCHANGED = ResponseSpec(None, description="The client's copy is current.")
Body = dict[str, Any]


@get(
    ONE + "/head-list",
    operation_id="read_head_list",
    tags=["documents"],
    responses={304: _UNCHANGED, **refusals(*MISSING)},
)
async def read_head_list(
    campaign_id: FromPath[UUID], request: StrictRequest, service: NamedDependency[ServiceState]
) -> Response[Body]:
    """Return the signed list that devices report against, the same for every device."""
    published = await service.lists.get(campaign_id)
    headers = {"etag": published.etag, "cache-control": CACHED, "vary": "accept-encoding"}
    if published.etag in _tags(request):
        return json_response(b"", headers, status=304)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return json_response(published.compressed, {**headers, "content-encoding": "gzip"})
    return json_response(published.body, headers)


def _reader(path: str, kind: Document, summary: str) -> HTTPRouteHandler:
    @get(
        f"{ONE}/{path}",
        operation_id=f"read_{path.replace('-', '_')}",
        tags=["documents"],
        description=summary,
        responses={304: _UNCHANGED, **refusals(*MISSING)},
    )
    async def read(
        campaign_id: FromPath[UUID], request: StrictRequest, service: NamedDependency[ServiceState]
    ) -> Response[Body]:
        content = await read_published(service, campaign_id, kind)
        headers = {"etag": f'"{digest_of_bytes(content)}"', "cache-control": CACHED}
        if headers["etag"] in _tags(request):
            return json_response(b"", headers, status=304)
        return json_response(content, headers)

    return read


async def read_published(service: ServiceState, campaign_id: UUID, kind: Document) -> bytes:
    """Return a document; refuse if it is not published yet."""
    content = await service.dependencies.store.document(campaign_id, kind)
    if content is None:
        raise Problem.NOT_PUBLISHED.error()
    return content


def _tags(request: StrictRequest) -> str:
    return request.headers.get("if-none-match", "")


def json_response(content: bytes, headers: dict[str, str], status: int = 200) -> Response[Any]:
    """Return stored JSON bytes as a response."""
    return Response(content, headers=headers, status_code=status, media_type="application/json")


HANDLERS = (
    read_head_list,
    _reader("release", Document.RELEASE, "Return the blended result, once it is released."),
    _reader(
        "opt-in-estimates",
        Document.OPT_IN_ESTIMATES,
        "Return the integers that the opt-in users' side released with the list.",
    ),
    _reader(
        "client-estimates",
        Document.CLIENT_ESTIMATES,
        "Return how many reports named each cell, once the result is released.",
    ),
    _reader(
        "relay-estimates",
        Document.RELAY_ESTIMATES,
        "Return what became of the relay's batch, and how many of its reports named each cell, "
        "once the result is released; only campaigns with a relay have it.",
    ),
    _reader(
        "certificate",
        Document.CERTIFICATE,
        "Return the exact privacy cost of the campaign for each group of users.",
    ),
)
