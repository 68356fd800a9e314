"""Release of a campaign as tables (CSV, Parquet) and as a report that opens offline."""

import io
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.params import FromPath

from blender_dp.engine.released_tables import table_of
from blender_dp.server.problems import Problem
from blender_dp.service.http.routes.campaigns import ONE
from blender_dp.service.http.routes.documents import CACHED, MISSING, read_published
from blender_dp.service.http.routes.refusals import refusals
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Document

Release = Mapping[str, Any]
Rendering = Callable[[], bytes]
Reading = Callable[[ServiceState, UUID], Awaitable[Rendering]]
"""Reads what a file is made of, and returns how; making it may take long."""


def _file(name: str, media_type: str, summary: str, read_parts: Reading) -> HTTPRouteHandler:
    @get(
        f"{ONE}/{name}",
        operation_id=f"read_{name.replace('.', '_')}",
        tags=["documents"],
        description=summary,
        media_type=media_type,
        responses={
            200: ResponseSpec(str, description=summary, media_type=media_type),
            **refusals(*MISSING, Problem.OVERLOADED),
        },
    )
    async def read(
        campaign_id: FromPath[UUID], service: NamedDependency[ServiceState]
    ) -> Response[bytes]:
        render = await read_parts(service, campaign_id)
        content = await service.file_turns.run(render)
        # Saved, not shown: the report has scripts, which the service's pages do not allow.
        headers = {
            "cache-control": CACHED,
            "content-disposition": f'attachment; filename="{name}"',
        }
        return Response(content, media_type=media_type, headers=headers)

    return read


def _table(release: Release, rows: str) -> pa.Table:
    found = release[rows]
    return table_of({name: [row[name] for row in found] for name in found[0]})


def _rows(rows: str, write: Callable[[pa.Table, io.BytesIO], None]) -> Reading:
    async def read(service: ServiceState, campaign_id: UUID) -> Rendering:
        published = await read_published(service, campaign_id, Document.RELEASE)

        def render() -> bytes:
            file = io.BytesIO()
            write(_table(json.loads(published), rows), file)
            return file.getvalue()

        return render

    return read


def _csv(rows: str) -> Reading:
    return _rows(rows, pa.csv.write_csv)


def _parquet(rows: str) -> Reading:
    return _rows(rows, pa.parquet.write_table)


async def _report(service: ServiceState, campaign_id: UUID) -> Rendering:
    """Read all that the campaign published: the page has what a run writes."""
    make = service.dependencies.render_report
    if make is None:
        raise Problem.NOT_FOUND.error()
    await read_published(service, campaign_id, Document.RELEASE)
    store = service.dependencies.store
    campaign = await store.campaign(campaign_id)
    published = {kind: await store.document(campaign_id, kind) for kind in Document}

    def render() -> bytes:
        documents = {kind: json.loads(text) for kind, text in published.items() if text}
        return make(campaign, documents).encode()

    return render


_PARQUET = "application/vnd.apache.parquet"
HANDLERS = (
    _file("records.csv", "text/csv", "Return the records of the release as CSV.", _csv("records")),
    _file("queries.csv", "text/csv", "Return the queries of the release as CSV.", _csv("queries")),
    _file("records.parquet", _PARQUET, "Return the records of the release.", _parquet("records")),
    _file("queries.parquet", _PARQUET, "Return the queries of the release.", _parquet("queries")),
    _file("report.html", "text/html", "Return the release as one offline page.", _report),
)
