"""Reports over HTTP: counted once, all of a request or nothing, and nothing after sealing."""

import asyncio
import gzip
import json
import os
from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest
from service.running import Published, Service, slug_of

from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.population import ReportCounts
from blender_dp.wire.reports.report import report_document
from blender_dp.wire.reports.service_report import ReportReader

pytestmark = pytest.mark.anyio


async def counted(service: Service, published: Published) -> ReportCounts:
    return await service.dependencies.store.report_counts(UUID(published.campaign))


def named_by(
    published: Published, reports: Sequence[dict[str, str]]
) -> tuple[list[int], list[int]]:
    """Count by hand what reports name."""
    reader = ReportReader(published.head_list)
    cells = np.zeros(published.head_list.cells.cell_count, dtype=np.int64)
    queries = np.zeros(published.head_list.cells.query_count, dtype=np.int64)
    for report in reports:
        report_id = reader.ids([report["report_id"]])
        [answer] = reader.subsets(report_id, [report["question"]], [report["items"]])
        (cells if answer.question == "record" else queries)[answer.items.ravel()] += 1
    return cells.tolist(), queries.tolist()


async def test_every_report_is_counted_once_by_what_it_names(fresh: Service) -> None:
    published = await fresh.published()
    reports = [published.report(number=number) for number in range(60)]
    alone = [await fresh.send(published.campaign, report) for report in reports[:10]]
    together = await fresh.send(published.campaign, published.batch_of(reports))
    assert {(one.status_code, one.text) for one in alone} == {(202, '{"accepted":1,"repeated":0}')}
    assert together.json() == {"accepted": 50, "repeated": 10}
    counts = await counted(fresh, published)
    assert (counts.cells.tolist(), counts.queries.tolist()) == named_by(published, reports)
    assert counts.cell_reports + counts.query_reports == 60


async def test_an_id_with_another_content_is_refused(
    service: Service, published: Published
) -> None:
    report_id = os.urandom(16)
    first = published.report(report_id)
    other = next(
        report
        for report in (published.report(report_id, number) for number in range(1000))
        if report["items"] != first["items"]
    )
    assert (await service.send(published.campaign, first)).status_code == 202
    before = await counted(service, published)
    answer = await service.send(published.campaign, other)
    assert (answer.status_code, slug_of(answer)) == (409, "report-id-reused")
    batch = published.batch_of([published.report(), other])
    assert slug_of(await service.send(published.campaign, batch)) == "report-id-reused"
    after = await counted(service, published)
    assert after.cells.tolist() == before.cells.tolist()


async def test_gzip_and_other_spellings_are_the_same_report(
    service: Service, published: Published
) -> None:
    report = published.report()
    path = f"/v1/campaigns/{published.campaign}/reports"
    headers = {"content-type": "application/json; charset=utf-8", "content-encoding": "gzip"}
    packed = gzip.compress(json.dumps(report).encode())
    first = await service.http.post(path, content=packed, headers=headers)
    spread = json.dumps(dict(sorted(report.items())), indent=4).replace("items", "\\u0069tems")
    again = await service.http.post(
        path, content=spread, headers={"content-type": "application/json"}
    )
    assert [first.json(), again.json()] == [
        {"accepted": 1, "repeated": 0},
        {"accepted": 0, "repeated": 1},
    ]


async def test_a_report_of_local_alg_names_a_cell(fresh: Service) -> None:
    published = await fresh.published(parameters={"epsilon": 4, "delta": 1e-2, "preset": "paper"})
    report = published.report()
    assert set(report) == {"version", "head_list", "mechanism", "report_id", "cell"}
    assert (await fresh.send(published.campaign, report)).json()["accepted"] == 1
    batch = await fresh.send(published.campaign, published.batch(20))
    assert batch.json() == {"accepted": 20, "repeated": 0}
    for cell in (-1, published.head_list.cells.cell_count, 2**70):
        answer = await fresh.send(published.campaign, {**published.report(), "cell": cell})
        assert slug_of(answer) in ("not-expressible", "body-not-understood")
    for other in (True, 1.0, "1", None):
        answer = await fresh.send(published.campaign, {**published.report(), "cell": other})
        assert slug_of(answer) == "body-not-understood"
    counts = await counted(fresh, published)
    assert (int(counts.cells.sum()), counts.cell_reports) == (21, 21)


async def test_a_report_without_an_id_is_no_report(service: Service, published: Published) -> None:
    made = LocalRandomizer(published.head_list).report("weather", "weather.example")
    answer = await service.send(published.campaign, report_document(published.head_list, made))
    assert slug_of(answer) == "body-not-understood"


async def test_nothing_is_added_after_sealing(fresh: Service) -> None:
    published = await fresh.published()
    assert (await fresh.send(published.campaign, published.report())).status_code == 202
    await fresh.moved(published.campaign, "seal-clients", "clients-open")
    before = await counted(fresh, published)
    for body in (published.report(), published.batch(5)):
        answer = await fresh.send(published.campaign, body)
        assert (answer.status_code, slug_of(answer)) == (409, "campaign-not-collecting")
    assert (await counted(fresh, published)).cells.tolist() == before.cells.tolist()


async def test_senders_who_race_a_seal_all_have_an_answer(fresh: Service) -> None:
    published = await fresh.published()
    bodies = [published.batch(5) for _ in range(40)]

    async def seal() -> None:
        await fresh.moved(published.campaign, "seal-clients", "clients-open")

    answers, _ = await asyncio.gather(
        asyncio.gather(*(fresh.send(published.campaign, body) for body in bodies)), seal()
    )
    assert {answer.status_code for answer in answers} <= {202, 409}
    accepted = sum(a.json()["accepted"] for a in answers if a.status_code == 202)
    counts = await counted(fresh, published)
    assert counts.cell_reports + counts.query_reports == accepted


async def test_a_page_of_any_origin_may_report_but_not_operate(
    service: Service, published: Published
) -> None:
    origin = {"origin": "https://page.example", "access-control-request-method": "POST"}
    path = f"/v1/campaigns/{published.campaign}"
    asked = await service.http.options(f"{path}/reports", headers=origin)
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, "*")
    assert "access-control-allow-credentials" not in asked.headers
    sent = await service.http.post(
        f"{path}/reports", json=published.report(), headers={"origin": "https://page.example"}
    )
    assert sent.headers["access-control-allow-origin"] == "*"
    for closed in ("/v1/campaigns", f"{path}/moves", f"{path}/progress", "/v1/audit-log", "/"):
        answer = await service.http.options(closed, headers=origin)
        assert "access-control-allow-origin" not in answer.headers, closed
