"""Route POST …/reports, the busiest one: plain ASGI without the framework."""

import re
from functools import lru_cache
from typing import Any
from uuid import UUID

from blender_dp.server.answers import send_problem
from blender_dp.server.bodies.request_body import Receive, read_body
from blender_dp.server.bodies.threads import SHORT_BYTES
from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.http.reports.intake import MOST_BATCH_BYTES
from blender_dp.service.problems import of_store
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import StoreRefusal

TEMPLATE = "/v1/campaigns/{campaign_id}/reports"
_PATH = re.compile(r"/v1/campaigns/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})/reports")
_HEADERS = [(b"content-type", b"application/json")]
_uuid = lru_cache(maxsize=256)(UUID)
"""Cached: there are few campaigns and many requests."""


def campaign_in(path: str) -> str | None:
    """Return the campaign of a path to reports; None for other paths."""
    found = _PATH.fullmatch(path)
    return found[1] if found else None


class ReportRoute:
    """Takes one report or a batch; answers when they are on disk."""

    def __init__(self, service: ServiceState) -> None:
        self._service = service

    async def __call__(
        self,
        campaign_id: str,
        scope: Any,  # noqa: ANN401 - ASGI
        receive: Receive,
        send: Any,  # noqa: ANN401 - ASGI
    ) -> int:
        """Answer a request and return the status."""
        try:
            if scope["method"] != "POST":
                raise Problem.METHOD_NOT_ALLOWED.error()
            body = await self._take(campaign_id, scope, receive)
        except StoreRefusal as refusal:
            return await self._refuse(campaign_id, of_store(refusal.reason), send)
        except ProblemError as problem:
            return await self._refuse(campaign_id, problem, send)
        headers = [*_HEADERS, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return 202

    async def _take(self, campaign_id: str, scope: Any, receive: Receive) -> bytes:  # noqa: ANN401
        lists, uuid = self._service.lists, _uuid(campaign_id)
        intake = lists.known_intake(campaign_id) or await lists.intake(uuid)
        with self._service.bodies.lease() as lease:
            body = await read_body(scope["headers"], receive, MOST_BATCH_BYTES, lease)
            if body.is_gzip or len(body.content) > SHORT_BYTES:
                reports = await self._service.body_threads.run(intake.receive, body)
            else:
                reports = intake.check(body.content)
        added = await self._service.dependencies.store.add_reports(uuid, reports)
        metrics = self._service.dependencies.metrics
        metrics.accepted.inc(added.accepted)
        if added.repeated:
            metrics.repeated.inc(added.repeated)
        return b'{"accepted":%d,"repeated":%d}' % (added.accepted, added.repeated)

    async def _refuse(self, campaign_id: str, error: ProblemError, send: Any) -> int:  # noqa: ANN401
        kind = error.problem.kind
        self._service.dependencies.metrics.count_refusal(kind.slug)
        # Counted only for campaigns that exist: anybody can invent other ids.
        is_known = self._service.lists.known_intake(campaign_id) is not None
        if kind.status < 500 and (is_known or error.problem is Problem.NOT_COLLECTING):
            self._service.count_refusal(_uuid(campaign_id), kind.slug)
        extra = {"allow": "POST, OPTIONS"} if kind.status == 405 else {}
        return await send_problem(error, send, extra)
