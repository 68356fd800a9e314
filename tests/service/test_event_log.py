"""Logs and figures hold nothing that anybody sent."""

import io
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from service.bad_requests import JSON
from service.running import START, Service, a_contribution, an_unknown_token, running, slug_of

from blender_dp.server.event_log import EventLog, EventLogHandler
from blender_dp.server.unblocked_stream import UnblockedStream
from blender_dp.service.storage.database_store import DatabaseStore

pytestmark = pytest.mark.anyio
CANARY = "canary7f3a"


async def test_no_canary_of_any_request_is_written_down(fresh: Service) -> None:
    published = await fresh.published()
    path = f"/v1/campaigns/{published.campaign}"
    token = an_unknown_token()
    await fresh.http.get(f"/v1/{CANARY}?q={CANARY}")
    await fresh.http.get(f"/v1/campaigns/{quote(CANARY)}/release?{CANARY}=1")
    await fresh.http.request(CANARY.upper(), "/v1/campaigns")
    await fresh.http.get("/v1/whoami", headers={"authorization": f"Bearer {token}"})
    await fresh.http.get("/health", headers={"user-agent": CANARY, "x-forwarded-for": CANARY})
    await fresh.http.post(f"{path}/reports", content=CANARY.encode(), headers=JSON)
    await fresh.http.post(f"{path}/reports", json={**published.report(), CANARY: CANARY})
    report = published.report()
    await fresh.http.post(f"{path}/reports?{CANARY}", json=report)
    campaign = await fresh.with_contributions(1)
    [enrolment] = await fresh.enrolled(campaign, 1)
    records = [{"query": CANARY, "url": CANARY}]
    await fresh.contribute(campaign, enrolment, records=records)
    await fresh.http.post(
        f"/v1/campaigns/{campaign}/opt-in",
        json={**a_contribution(records=records), "version": CANARY},
        headers={"authorization": f"Bearer {enrolment}"},
    )
    figures = (await fresh.http.get("/metrics")).text
    for written in (await fresh.written(), figures):
        assert "/v1/campaigns/{campaign_id}/reports" in written
        for canary in (CANARY, CANARY.upper(), token, enrolment, report["report_id"]):
            assert canary not in written
        for identity in (published.campaign, campaign, "127.0.0.1"):
            assert identity not in written


async def test_a_request_is_one_line_with_its_route_and_nothing_else(fresh: Service) -> None:
    before = await fresh.written()
    await fresh.http.get("/v1/log?from=0")
    [line] = (await fresh.written()).removeprefix(before).splitlines()
    written = json.loads(line)
    assert written.pop("milliseconds") >= 0
    assert written == {
        "time": "2026-11-15T12:00:00.000Z",
        "event": "request",
        "method": "GET",
        "route": "/v1/log",
        "status": 200,
    }


class Broken:
    """A store whose every answer is an error that quotes what was asked."""

    def __init__(self, store: DatabaseStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        if name in ("close", "token", "tokens", "add_token"):
            return getattr(self._store, name)

        async def fail(*_args: object, **_options: object) -> None:
            raise RuntimeError(CANARY)

        return fail


async def test_a_failure_of_ours_is_a_problem_and_its_message_stays_here(tmp_path: Path) -> None:
    async with running(tmp_path, store_of=Broken) as service:
        campaign = "00000000-0000-4000-8000-000000000000"
        for answer in (
            await service.http.get("/v1/log"),
            await service.http.post(f"/v1/campaigns/{campaign}/reports", json={}),
        ):
            assert (answer.status_code, slug_of(answer)) == (500, "internal-error")
            assert CANARY not in answer.text
        health = await service.http.get("/health")
        assert (health.status_code, health.json()["status"]) == (503, "degraded")
        assert health.json()["reasons"] == ["store-unreachable"]
        assert "retry-after" in health.headers
        assert "RuntimeError" in service.event_log.getvalue()
        assert CANARY not in service.event_log.getvalue()
        assert "blender_dp_store_up 0.0" in (await service.http.get("/metrics")).text


async def test_who_leaves_in_the_middle_is_no_failure_of_ours(fresh: Service) -> None:
    app: Any = fresh.http._transport.app  # type: ignore[attr-defined]  # httpx keeps it
    published = await fresh.published()
    paths = ("/v1/campaigns", f"/v1/campaigns/{published.campaign}/reports")
    authorization = fresh.as_role()["authorization"].encode()
    sent: list[Any] = []

    async def left() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    for path in paths:
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"content-type", b"application/json"), (b"authorization", authorization)],
            "client": ("192.0.2.1", 1),
            "state": {},
        }
        await app(scope, left, send)
    assert sent == []
    written = await fresh.written()
    assert written.count('"status":499') == 2
    assert '"event":"failure"' not in written


async def test_figures_count_answers_reports_and_refusals(fresh: Service) -> None:
    published = await fresh.published()
    report = published.report()
    for body in (report, report, published.batch(5), {}):
        await fresh.send(published.campaign, body)
    figures = (await fresh.http.get("/metrics")).text
    assert 'blender_dp_reports_total{outcome="accepted"} 6.0' in figures
    assert 'blender_dp_reports_total{outcome="repeated"} 1.0' in figures
    assert 'status="400"' in figures
    assert 'requests_refused_total{problem="body-not-understood"} 1.0' in figures
    assert "cell" not in figures


def test_a_line_is_written_whole() -> None:
    stream = io.StringIO()
    EventLog(lambda: START, stream).write("job", kind="a\nb")
    assert stream.getvalue().count("\n") == 1
    assert json.loads(stream.getvalue())["kind"] == "a\nb"


async def test_answers_carry_headers_that_keep_browsers_safe(service: Service) -> None:
    for path in ("/", "/health", "/v1/nothing", "/openapi.json"):
        headers = (await service.http.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"


def written_by(stream: UnblockedStream, count: int) -> threading.Thread:
    """Return a thread that writes so many lines, one after the other."""

    def write() -> None:
        for number in range(count):
            stream.write(f"{number:0100}\n")

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_an_unread_pipe_makes_nobody_wait_and_what_is_lost_is_counted() -> None:
    reading, writing = os.pipe()
    stream = UnblockedStream(writing, lambda lines: f"lost {lines}\n", most_waiting=10_000)
    writer = written_by(stream, 20_000)
    writer.join(60)
    assert not writer.is_alive()
    read: list[bytes] = []

    def read_all() -> None:
        while piece := os.read(reading, 1 << 16):
            read.append(piece)

    reader = threading.Thread(target=read_all, daemon=True)
    reader.start()
    assert stream.drain(60)
    os.close(writing)
    reader.join(60)
    os.close(reading)
    lines = b"".join(read).decode().splitlines()
    lost = sum(int(line.split()[1]) for line in lines if line.startswith("lost"))
    kept = [int(line) for line in lines if not line.startswith("lost")]
    assert lost > 0
    assert len(kept) + lost == 20_000
    assert kept == sorted(set(kept))


def test_a_pipe_that_is_read_loses_nothing() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    stream = UnblockedStream(writing, lambda _: "lost\n")
    writer = written_by(stream, 5_000)
    expected = b"".join(b"%0100d\n" % number for number in range(5_000))
    read = b""
    while len(read) < len(expected):
        read += os.read(reading, 1 << 16)
    writer.join(60)
    assert stream.drain(60)
    assert read == expected
    os.close(writing)
    os.close(reading)


def test_a_closed_pipe_stops_nobody() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stream = UnblockedStream(writing, lambda _: "lost\n")
    stream.write("a line\n")
    assert stream.drain(60)
    os.close(writing)


def test_what_libraries_log_is_a_line_without_values() -> None:
    stream = io.StringIO()
    handler = EventLogHandler(EventLog(lambda: START, stream))
    for name, said in (
        ("uvicorn.error", "got %s"),
        ("blender_dp.sqlite", f"got {CANARY}"),
    ):
        record = logging.LogRecord(name, logging.ERROR, "", 0, "got %s", (CANARY,), None)
        handler.handle(record)
        line = json.loads(stream.getvalue().splitlines()[-1])
        assert (line["event"], line["name"], line["message"]) == ("library", name, said)
