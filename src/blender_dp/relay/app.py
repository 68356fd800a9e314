"""Relay as an ASGI application: a handful of routes, without a framework."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import msgspec

from blender_dp.relay.condition import condition_watch
from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.forwarding import Forwarder
from blender_dp.relay.intake import MOST_BYTES
from blender_dp.relay.open_campaigns import OpenCampaigns
from blender_dp.relay.openapi import openapi_document
from blender_dp.relay.page import STYLE, render_page
from blender_dp.relay.storage.report_writer import ReportWriter
from blender_dp.relay.storage.store import Batch, BatchState
from blender_dp.server.answers import Send
from blender_dp.server.bodies.in_flight import BodiesInFlight
from blender_dp.server.bodies.request_body import Receive, read_body
from blender_dp.server.bodies.threads import SHORT_BYTES, BodyThreads
from blender_dp.server.metrics import MEDIA_TYPE as METRICS
from blender_dp.server.plain_app import JSON, CampaignRoute, Page, PlainApp
from blender_dp.server.problems import Problem

_HTML, _CSS = "text/html; charset=utf-8", "text/css; charset=utf-8"


class RelayApp:
    """The whole relay as one ASGI application."""

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies
        self.campaigns = OpenCampaigns(dependencies)
        self._writer = ReportWriter(dependencies.store.database)
        self.forwarder = Forwarder(dependencies, self.campaigns, self._writer.forget)
        self._condition = condition_watch(dependencies, self.forwarder)
        self._bodies, self._threads = BodiesInFlight(), BodyThreads()
        self._app = PlainApp(
            fixed={
                "/": self._page,
                "/page.css": self._style,
                "/health": self._health,
                "/metrics": self._metrics,
                "/openapi.json": self._openapi,
            },
            of_campaign={
                "": CampaignRoute("GET", self._counts),
                "/reports": CampaignRoute("POST", self._take),
                "/statement": CampaignRoute("GET", self._statement),
            },
            live=self._live,
            event_log=dependencies.event_log,
            count_answer=dependencies.metrics.count_answer,
        )

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:  # noqa: ANN401
        """Answer a request, whatever happens."""
        await self._app(scope, receive, send)

    async def _take(self, campaign: UUID, scope: Any, receive: Receive) -> Page:  # noqa: ANN401
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
        return Page(202, JSON, content)

    async def _counts(self, campaign: UUID, _scope: object, _receive: object) -> Page:
        batch = await self._batch(campaign)
        return Page(200, JSON, msgspec.json.encode(counts_document(batch)))

    async def _statement(self, campaign: UUID, _scope: object, _receive: object) -> Page:
        batch = await self._batch(campaign)
        if batch.statement is None:
            raise Problem.NOT_PUBLISHED.error()
        return Page(200, JSON, batch.statement.encode())

    async def _batch(self, campaign: UUID) -> Batch:
        batch = await self.dependencies.store.batch(campaign)
        if batch is None:
            raise Problem.UNKNOWN_CAMPAIGN.error()
        return batch

    async def _page(self) -> Page:
        batches = await self.dependencies.store.batches()
        return Page(200, _HTML, render_page(batches, self.dependencies.public_key).encode())

    async def _style(self) -> Page:
        return Page(200, _CSS, STYLE.encode())

    async def _openapi(self) -> Page:
        return Page(200, JSON, msgspec.json.encode(openapi_document()))

    async def _health(self) -> Page:
        condition = await self._condition.current()
        content = msgspec.json.encode(condition.document())
        return Page(200 if condition.is_working else 503, JSON, content)

    async def _metrics(self) -> Page:
        await self._condition.current()
        return Page(200, METRICS, self.dependencies.metrics.text())

    @asynccontextmanager
    async def _live(self) -> AsyncIterator[None]:
        """Forward sealed campaigns from the start to the end of the server."""
        task = asyncio.create_task(self.forwarder.run(self.dependencies.poll_seconds))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._writer.close()
            self._threads.close()


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
