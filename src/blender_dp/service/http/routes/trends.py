"""Trends: changes between the releases of two campaigns."""

import json
from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from blender_dp.search_trends.changes import FALSE_DISCOVERY_RATE, Change, changes
from blender_dp.server.problems import Problem
from blender_dp.service.http.routes.campaigns import ONE
from blender_dp.service.http.routes.documents import CACHED, MISSING, json_response, read_published
from blender_dp.service.http.routes.refusals import refusals
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Document
from blender_dp.wire.published.release import release_of

_MOST_KEPT = 16
"""Most answers kept in memory, each of at most 2 MB; the same pair is compared once."""
_MOST_BYTES = 8 << 20
"""Longest release that is compared here: about 9,000 records, which take two seconds."""


class ShownTrends(msgspec.Struct, frozen=True, kw_only=True):
    """Changes since an earlier release."""

    private: bool
    """False if either release was made with a seed."""
    confidence: float
    """Confidence of each interval of a difference."""
    false_discovery_rate: float
    """Largest share of wrong verdicts, on average."""
    changes: list[Change]
    """Every query of either release, the surest change first."""


@get(
    ONE + "/trends",
    operation_id="read_trends",
    tags=["documents"],
    responses=refusals(*MISSING, Problem.RELEASE_TOO_LARGE),
)
async def read_trends(
    campaign_id: FromPath[UUID],
    since: Annotated[UUID, QueryParameter(description="The campaign to compare with.")],
    service: NamedDependency[ServiceState],
) -> Response[ShownTrends]:
    """Compare the releases of two campaigns; computed from the two public files alone.

    One comparison is computed at a time; releases never change, so an answer is kept.
    """
    pair = campaign_id, since
    content = service.trends.get(pair)
    if content is None:
        now, then = [await read_published(service, one, Document.RELEASE) for one in pair]
        if max(len(now), len(then)) > _MOST_BYTES:
            raise Problem.RELEASE_TOO_LARGE.error()
        content = await service.trend_turns.run(_compare_once, service.trends, pair, now, then)
    return json_response(content, {"cache-control": CACHED})


def _compare_once(
    kept: dict[tuple[UUID, UUID], bytes], pair: tuple[UUID, UUID], now: bytes, then: bytes
) -> bytes:
    """Return the answer if another request computed it by now, else compute and keep it."""
    if pair not in kept:
        content = _compare(now, then)
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[pair] = content
    return kept[pair]


def _compare(now: bytes, then: bytes) -> bytes:
    release, earlier = (release_of(json.loads(one), "release") for one in (now, then))
    return msgspec.json.encode(
        ShownTrends(
            private=release.private and earlier.private,
            confidence=release.confidence,
            false_discovery_rate=FALSE_DISCOVERY_RATE,
            changes=changes(release, earlier, false_discovery_rate=FALSE_DISCOVERY_RATE),
        )
    )
