"""Relay as an ASGI application: a handful of routes, without a framework."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from blender_dp.relay.condition import ConditionWatch
from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.forwarding import Forwarder
from blender_dp.relay.intake import MOST_BYTES
from blender_dp.relay.metrics import MEDIA_TYPE as METRICS
from blender_dp.relay.open_campaigns import OpenCampaigns
from blender_dp.relay.openapi import openapi_document
from blender_dp.relay.page import STYLE, render_page
from blender_dp.relay.storage.database import UnavailableError
from blender_dp.relay.storage.report_writer import ReportWriter
from blender_dp.relay.storage.store import Batch, BatchState
from blender_dp.server.answers import PREFLIGHT, Answer, Send, send_problem
from blender_dp.server.bodies.in_flight import BodiesInFlight
from blender_dp.server.bodies.request_body import Disconnected, Receive, read_body
from blender_dp.server.bodies.threads import SHORT_BYTES, BodyThreads
from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError

_CAMPAIGN = re.compile(
    r"/v1/campaigns/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(/reports|/statement|)"
)
_TEMPLATE = "/v1/campaigns/{campaign_id}"
NO_ROUTE = "(none)"
_METHODS = frozenset({"GET", "POST", "OPTIONS", "HEAD", "PUT", "PATCH", "DELETE"})
_JSON, _HTML, _CSS = "application/json", "text/html; charset=utf-8", "text/css; charset=utf-8"
Page = tuple[int, str, bytes]
"""Status, media type and content of an answer."""
_uuid = lru_cache(maxsize=256)(UUID)


class RelayApp:
    """The whole relay as one ASGI application."""

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies
        self.campaigns = OpenCampaigns(dependencies)
        self._writer = ReportWriter(dependencies.store.database)
        self.forwarder = Forwarder(dependencies, self.campaigns, self._writer.forget)
        self._condition = ConditionWatch(dependencies, self.forwarder)
        self._bodies, self._threads = BodiesInFlight(), BodyThreads()
        self._fixed: Mapping[str, Callable[[], Awaitable[Page]]] = {
            "/": self._page,
            "/page.css": self._style,
            "/health": self._health,
            "/metrics": self._metrics,
            "/openapi.json": self._openapi,
        }

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:  # noqa: ANN401
        """Answer a request, whatever happens."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        found = _CAMPAIGN.fullmatch(scope["path"])
        answer = Answer(send, is_open=found is not None)
        try:
            await self._answer(found, scope, receive, answer)
        except ProblemError as problem:
            await send_problem(problem, answer, _allowed(problem, found))
        except UnavailableError:
            await send_problem(Problem.OVERLOADED.error(retry_after=RETRY_SECONDS), answer)
        except Disconnected:
            answer.status = answer.status or 499
        except Exception as error:  # noqa: BLE001 - the outermost handler must answer
            self.dependencies.event_log.failure("request", error)
            if not answer.status:
                await send_problem(Problem.INTERNAL_ERROR.error(), answer)
        route = _TEMPLATE + found[2] if found else self._route(scope["path"])
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.dependencies.metrics.count_answer(route, method, answer.status)

    async def _answer(
        self,
        found: re.Match[str] | None,
        scope: Any,  # noqa: ANN401
        receive: Receive,
        answer: Answer,
    ) -> None:
        method, path = scope["method"], scope["path"]
        if found is None and path not in self._fixed:
            raise Problem.NOT_FOUND.error()
        if method == "OPTIONS":
            await self._options(found, answer)
            return
        is_upload = found is not None and found[2] == "/reports"
        if method != ("POST" if is_upload else "GET"):
            raise Problem.METHOD_NOT_ALLOWED.error()
        if found is None:
            await _send(await self._fixed[path](), answer)
        elif is_upload:
            await _send(await self._take(found[1], scope, receive), answer)
        else:
            batch = await self.dependencies.store.batch(_uuid(found[1]))
            await _send(_shown(batch, with_statement=found[2] == "/statement"), answer)

    async def _take(self, campaign: str, scope: Any, receive: Receive) -> Page:  # noqa: ANN401
        """Store reports; answer when they are on disk."""
        known = self.campaigns.known(campaign) or await self.campaigns.find(campaign)
        with self._bodies.lease() as lease:
            body = await read_body(scope["headers"], receive, MOST_BYTES, lease)
            if body.is_gzip or len(body.content) > SHORT_BYTES:
                reports = await self._threads.run(known.intake.receive, body)
            else:
                reports = known.intake.check(body.content)
        added = await self._writer.add(known.number, reports)
        self.dependencies.metrics.accepted.inc(added.accepted)
        if added.repeated:
            self.dependencies.metrics.repeated.inc(added.repeated)
        content = b'{"accepted":%d,"repeated":%d}' % (added.accepted, added.repeated)
        return 202, _JSON, content

    async def _options(self, found: re.Match[str] | None, answer: Answer) -> None:
        allowed = "POST, OPTIONS" if found and found[2] == "/reports" else "GET, OPTIONS"
        headers = [(b"allow", allowed.encode()), *(PREFLIGHT if found else ())]
        await answer({"type": "http.response.start", "status": 204, "headers": headers})
        await answer({"type": "http.response.body", "body": b""})

    async def _page(self) -> Page:
        batches = await self.dependencies.store.batches()
        return 200, _HTML, render_page(batches, self.dependencies.public_key).encode()

    async def _style(self) -> Page:
        return 200, _CSS, STYLE.encode()

    async def _openapi(self) -> Page:
        return 200, _JSON, msgspec.json.encode(openapi_document())

    async def _health(self) -> Page:
        condition = await self._condition.current()
        return (
            200 if condition.takes_reports else 503,
            _JSON,
            msgspec.json.encode(condition.document()),
        )

    async def _metrics(self) -> Page:
        await self._condition.current()
        return 200, METRICS, self.dependencies.metrics.text()

    def _route(self, path: str) -> str:
        return path if path in self._fixed else NO_ROUTE

    async def _live(self, receive: Receive, send: Send) -> None:
        """Forward sealed campaigns from the start to the end of the server."""
        await receive()
        task = asyncio.create_task(self.forwarder.run(self.dependencies.poll_seconds))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self._writer.close()
        self._threads.close()
        await send({"type": "lifespan.shutdown.complete"})


async def _send(page: Page, answer: Answer) -> None:
    status, media_type, content = page
    headers = [
        (b"content-type", media_type.encode()),
        (b"content-length", b"%d" % len(content)),
        (b"cache-control", b"no-store"),
    ]
    await answer({"type": "http.response.start", "status": status, "headers": headers})
    await answer({"type": "http.response.body", "body": content})


def _shown(batch: Batch | None, *, with_statement: bool) -> Page:
    """Return the counts of a campaign, or the signed statement about it."""
    if batch is None:
        raise Problem.UNKNOWN_CAMPAIGN.error()
    if with_statement:
        if batch.statement is None:
            raise Problem.NOT_PUBLISHED.error()
        return 200, _JSON, batch.statement.encode()
    return 200, _JSON, msgspec.json.encode(counts_document(batch))


def counts_document(batch: Batch) -> dict[str, Any]:
    """Return what anybody may know of a campaign's reports."""
    is_kept = batch.state in (BatchState.WAITING, BatchState.FORWARDING)
    return {
        "campaign": str(batch.campaign),
        "state": batch.state.value,
        "waiting": batch.count if is_kept else 0,
        "forwarded": batch.count if batch.state is BatchState.FORWARDED else 0,
        "destroyed": batch.count if batch.state is BatchState.DESTROYED else 0,
        "least_batch": batch.least_batch,
    }


def _allowed(problem: ProblemError, found: re.Match[str] | None) -> dict[str, str]:
    if problem.problem is not Problem.METHOD_NOT_ALLOWED:
        return {}
    is_upload = found is not None and found[2] == "/reports"
    return {"allow": "POST, OPTIONS" if is_upload else "GET, OPTIONS"}
