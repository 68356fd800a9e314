"""Small requests with reports are answered without ASGI, exactly as ASGI would answer them."""

import asyncio
import gzip
import io
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from service.limited_server import PATIENCE, started, until
from service.running import Published, Service, running

from blender_dp.server.connections import ConnectionLimits
from blender_dp.server.event_log import EventLog
from blender_dp.service.http.reports import groups
from blender_dp.service.http.reports.groups import ReportGroups
from blender_dp.service.http.reports.route import TEMPLATE
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Reason, StoreRefusal
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.reports.report import codec_of

pytestmark = pytest.mark.anyio
_PLAIN = (b"content-type: application/json",)
GOOD = b'{"accepted":1,"repeated":0}'


class HeldStore:
    """A store that keeps single reports waiting, or fails with them, when it is told to."""

    def __init__(self, store: DatabaseStore) -> None:
        self._store = store
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.failure: Exception | None = None
        self.groups: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def add_singles(self, campaign_id: Any, reports: Any) -> Any:
        self.groups.append(len(reports))
        await self.go_on.wait()
        if self.failure is not None:
            raise self.failure
        return await self._store.add_singles(campaign_id, reports)


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """A service behind a real server, and a campaign whose list is loaded."""

    service: Service
    published: Published
    store: HeldStore
    server: uvicorn.Server
    port: int
    through_asgi: list[str] = field(default_factory=list)
    """Methods of the requests that went through ASGI."""
    written_before: int = 0
    """Length of the log when the test began."""

    def request(
        self, body: bytes, headers: Sequence[bytes] = _PLAIN, first: bytes = b"POST {} HTTP/1.1"
    ) -> bytes:
        path = f"/v1/campaigns/{self.published.campaign}/reports".encode()
        length = b"content-length: %d" % len(body)
        lines = [first.replace(b"{}", path), b"host: a", length, *headers, b"", body]
        return b"\r\n".join(lines)

    def report(self, **changes: object) -> bytes:
        return json.dumps({**self.published.report(), **changes}).encode()

    async def connect(self, content: bytes = b"") -> tuple[asyncio.StreamReader, Any]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(content)
        return reader, writer

    async def answer(self, *pieces: bytes) -> "Answer":
        """Send a request in pieces and return its answer."""
        reader, writer = await self.connect()
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.05 if len(pieces) > 1 else 0)
        answer = await read_answer(reader)
        writer.close()
        return answer

    async def counted(self) -> int:
        counts = await self.service.dependencies.store.report_counts(self.published.uuid)
        return counts.cell_reports + counts.query_reports

    async def written(self) -> str:
        """Return what was logged since the test began."""
        return (await self.service.written())[self.written_before :]

    async def figures(self) -> dict[str, float]:
        lines = (await self.service.http.get("/metrics")).text.splitlines()
        pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
        return {name: float(value) for name, _, value in pairs}

    async def held(self, count: int) -> None:
        """Wait until so many requests wait for a group that is being stored."""
        await until(lambda: bool(self.store.groups))
        app: Any = self.service.http._transport.app  # type: ignore[attr-defined]  # httpx keeps it
        of_all = app.reports._groups._groups
        await until(lambda: sum(len(group.waiting) for group in of_all.values()) == count)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def slug(self) -> str:
        return str(json.loads(self.body)["type"].rpartition(":")[2])


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    async with asyncio.timeout(PATIENCE):
        head = b""
        while not head or head.startswith(b"HTTP/1.1 100"):
            head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().strip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        body = await reader.readexactly(int(headers["content-length"]))
    return Answer(int(first.split()[1]), headers, body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collecting:
    """A service with a campaign that takes reports; what tests count there only grows."""

    service: Service
    published: Published
    store: HeldStore


@pytest.fixture(scope="module")
async def collecting(
    anyio_backend: str,  # noqa: ARG001 - makes the loop last as long as the service
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Collecting]:
    async with running(tmp_path_factory.mktemp("direct"), store_of=HeldStore) as service:
        published = await service.published()
        await service.send(published.campaign, published.report())  # loads the list
        store: Any = service.dependencies.store
        yield Collecting(service=service, published=published, store=store)


@asynccontextmanager
async def serving(collecting: Collecting, **options: Any) -> AsyncIterator[Direct]:
    """Start a server of its own for a test, on the service of all of them."""
    service, store = collecting.service, collecting.store
    app: Any = service.http._transport.app  # type: ignore[attr-defined]  # httpx keeps it
    through_asgi: list[str] = []

    async def counting(scope: Any, receive: Any, send: Any) -> None:
        through_asgi.append(scope["method"])
        await app(scope, receive, send)

    store.groups.clear()
    limits = ConnectionLimits(event_log=app.service.event_log, direct=app.reports, **options)
    own = {"server_header": False, "timeout_graceful_shutdown": 5}
    async with started(counting, limits, **own) as (server, port):
        try:
            yield Direct(
                service=service,
                published=collecting.published,
                store=store,
                server=server,
                port=port,
                through_asgi=through_asgi,
                written_before=len(await service.written()),
            )
        finally:
            store.failure = None
            store.go_on.set()


@pytest.fixture
async def direct(collecting: Collecting) -> AsyncIterator[Direct]:
    async with serving(collecting) as direct:
        yield direct


def comparable(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    """Return an answer without what differs between any two answers."""
    headers = {k: v for k, v in answer.headers.items() if k not in ("date", "connection")}
    return answer.status, headers, answer.body


async def test_the_answer_is_the_one_that_asgi_gives(direct: Direct) -> None:
    report = direct.report()
    for body in (report, report, b"{}", direct.report(version=9), b"\xff", b""):
        asked = direct.request(body)
        plain = await direct.answer(asked)
        assert direct.through_asgi == []
        # The same body under a length that arrives later is left to ASGI.
        through = await direct.answer(asked[: -len(body) or None], body) if body else plain
        direct.through_asgi.clear()
        if plain.status == 202:
            assert (through.status, through.body) == (202, b'{"accepted":0,"repeated":1}')
            assert {*plain.headers} == {*through.headers}
        else:
            assert comparable(plain) == comparable(through)
        assert "date" in plain.headers


UNUSUAL: dict[str, Callable[[Direct, bytes], Sequence[bytes]]] = {
    "a body in pieces": lambda d, body: [d.request(body)[:-30], body[-30:]],
    "headers, then the body": lambda d, body: [d.request(body)[: -len(body)], body],
    "keep-alive off": lambda d, body: [d.request(body, [*_PLAIN, b"connection: close"])],
    "HTTP 1.0": lambda d, body: [d.request(body, first=b"POST {} HTTP/1.0")],
    "100-continue": lambda d, body: [d.request(body, [*_PLAIN, b"expect: 100-continue"])],
    "another spelling of JSON": lambda d, body: [
        d.request(body, [b"content-type: application/json; charset=utf-8"])
    ],
    "gzip": lambda d, body: [
        d.request(gzip.compress(body), [*_PLAIN, b"content-encoding: gzip"]),
    ],
    "chunks": lambda d, body: [
        d.request(b"", [*_PLAIN, b"transfer-encoding: chunked"]).replace(
            b"content-length: 0\r\n", b""
        )
        + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    ],
    "a long body": lambda d, body: [d.request(body + b" " * (1 << 13))],
    "an upgrade": lambda d, body: [
        d.request(body, [*_PLAIN, b"upgrade: h2c"]),
    ],
    "a query in the path": lambda d, body: [d.request(body, first=b"POST {}?a HTTP/1.1")],
}


@pytest.mark.parametrize("kind", UNUSUAL)
async def test_what_is_unusual_goes_through_asgi(direct: Direct, kind: str) -> None:
    before = await direct.counted()
    answer = await direct.answer(*UNUSUAL[kind](direct, direct.report()))
    assert (answer.status, answer.body) == (202, GOOD)
    assert direct.through_asgi == ["POST"]
    assert await direct.counted() == before + 1


@pytest.mark.parametrize(
    ("first", "headers", "status"),
    [
        (b"GET {} HTTP/1.1", _PLAIN, 405),
        (b"PUT {} HTTP/1.1", _PLAIN, 405),
        (b"OPTIONS {} HTTP/1.1", _PLAIN, 204),
        (b"POST {}/ HTTP/1.1", _PLAIN, 404),
        (b"POST {} HTTP/1.1", (b"content-type: text/plain",), 415),
        (b"POST {} HTTP/1.1", (), 415),
        (b"POST {} HTTP/1.1", (*_PLAIN, b"content-encoding: br"), 415),
    ],
)
async def test_other_requests_are_refused_as_ever(
    direct: Direct, first: bytes, headers: Sequence[bytes], status: int
) -> None:
    asked = direct.request(direct.report(), headers, first)
    if status == 204:
        reader, writer = await direct.connect(asked)
        assert (await reader.readline()).startswith(b"HTTP/1.1 204 ")
        writer.close()
    else:
        assert (await direct.answer(asked)).status == status
    assert len(direct.through_asgi) == 1


async def test_a_campaign_whose_list_is_not_loaded_goes_through_asgi(direct: Direct) -> None:
    nobody = "00000000-0000-4000-8000-000000000000"
    path = f"POST /v1/campaigns/{nobody}/reports HTTP/1.1".encode()
    answer = await direct.answer(direct.request(direct.report(), first=path))
    assert (answer.status, answer.slug) == (404, "unknown-campaign")
    assert direct.through_asgi == ["POST"]


async def test_requests_on_one_connection_are_answered_in_their_order(direct: Direct) -> None:
    """Those that come before the first is answered are left to ASGI, which keeps the order."""
    before = await direct.counted()
    reports = [direct.report() for _ in range(3)]
    bodies = [reports[0], b"{}", reports[1], reports[0], reports[2]]
    reader, writer = await direct.connect(b"".join(map(direct.request, bodies)))
    answers = [await read_answer(reader) for _ in bodies]
    assert [answer.status for answer in answers] == [202, 400, 202, 202, 202]
    assert answers[3].body == b'{"accepted":0,"repeated":1}'
    assert len(direct.through_asgi) == 4
    writer.write(direct.request(direct.report()))  # the connection is as good as new
    assert (await read_answer(reader)).status == 202
    assert len(direct.through_asgi) == 4
    assert await direct.counted() == before + 4
    writer.close()


async def test_a_second_request_before_the_first_answer_waits_for_it(direct: Direct) -> None:
    direct.store.go_on.clear()
    reader, writer = await direct.connect(direct.request(direct.report()))
    await until(lambda: bool(direct.store.groups))
    writer.write(direct.request(direct.report(version=9)))
    await asyncio.sleep(0.05)
    direct.store.go_on.set()
    assert [(await read_answer(reader)).status for _ in range(2)] == [202, 422]
    writer.close()


async def test_whoever_leaves_before_the_answer_is_counted_and_disturbs_nobody(
    direct: Direct,
) -> None:
    before = await direct.counted()
    direct.store.go_on.clear()
    _, first = await direct.connect(direct.request(direct.report()))
    await until(lambda: direct.store.groups == [1])
    others = [await direct.connect(direct.request(direct.report())) for _ in range(4)]
    await direct.held(4)
    for _, writer in ((None, first), *others[:2]):
        writer.transport.abort()
    await until(lambda: len(direct.server.server_state.connections) == 2)
    direct.store.go_on.set()
    for reader, writer in others[2:]:
        assert (await read_answer(reader)).body == GOOD
        writer.close()
    assert direct.store.groups == [1, 4]
    assert await direct.counted() == before + 5
    assert '"event":"failure"' not in await direct.written()


async def test_only_the_refused_report_of_a_group_is_refused(direct: Direct) -> None:
    before = await direct.counted()
    twice = direct.report()
    reused = json.loads(twice)
    while reused == json.loads(twice):
        name = reused["report_id"]
        again = direct.published.report(_bytes_of(name))
        reused = again if again["items"] != json.loads(twice)["items"] else reused
    direct.store.go_on.clear()
    lone = await direct.connect(direct.request(twice))
    await until(lambda: direct.store.groups == [1])
    batch = json.dumps(direct.published.batch(2)).encode()
    sent = {
        direct.report(): 202,
        b"[]": 400,
        direct.report(version=9): 422,
        direct.report(items=""): 422,
        json.dumps(reused).encode(): 409,
        twice: 202,
        batch: 202,
        _with_items_beyond_the_list(direct): 422,
        direct.report(): 202,
    }
    connections = [await direct.connect(direct.request(body)) for body in sent]
    await direct.held(len(sent))
    direct.store.go_on.set()
    assert (await read_answer(lone[0])).status == 202
    answers = [await read_answer(reader) for reader, _ in connections]
    assert [answer.status for answer in answers] == [*sent.values()]
    assert answers[3].slug == answers[7].slug == "not-expressible"
    assert answers[4].slug == "report-id-reused"
    assert answers[5].body == b'{"accepted":0,"repeated":1}'
    assert answers[6].body == b'{"accepted":2,"repeated":0}'
    assert direct.store.groups == [1, 4]
    assert direct.through_asgi == []
    assert await direct.counted() == before + 5
    for _, writer in (lone, *connections):
        writer.close()


def _bytes_of(name: str) -> bytes:
    found = from_text(name, 16)
    assert found is not None
    return found


def _with_items_beyond_the_list(direct: Direct) -> bytes:
    """Return a report of the right length whose items no device could name."""
    report = direct.published.report()
    length = codec_of(direct.published.head_list).packings(direct.published.head_list)
    every_bit = b"\xff" * length[report["question"]].length
    return json.dumps({**report, "items": to_text(every_bit)}).encode()


@pytest.mark.parametrize(
    ("failure", "status", "slug"),
    [
        (StoreRefusal(Reason.OVERLOADED), 503, "overloaded"),
        (StoreRefusal(Reason.NOT_COLLECTING), 409, "campaign-not-collecting"),
        (RuntimeError("of ours"), 500, "internal-error"),
    ],
)
async def test_each_of_a_group_is_told_that_the_store_failed(
    direct: Direct, failure: Exception, status: int, slug: str
) -> None:
    before = await direct.counted()
    direct.store.go_on.clear()
    connections = [await direct.connect(direct.request(direct.report())) for _ in range(4)]
    await until(lambda: bool(direct.store.groups))
    direct.store.failure = failure
    direct.store.go_on.set()
    for reader, _ in connections:
        answer = await read_answer(reader)
        assert (answer.status, answer.slug) == (status, slug)
        assert ("retry-after" in answer.headers) == (status == 503)
    direct.store.failure = None
    for reader, writer in connections:
        writer.write(direct.request(direct.report()))
        assert (await read_answer(reader)).body == GOOD
        writer.close()
    assert await direct.counted() == before + 4
    written = await direct.written()
    assert ('"error":"RuntimeError"' in written) == (status == 500)
    assert "of ours" not in written


async def test_an_unforeseen_error_in_the_checks_is_told_to_each(
    direct: Direct, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: Any = direct.service.http._transport.app  # type: ignore[attr-defined]  # httpx keeps it
    intake = app.service.lists.known_intake(direct.published.campaign)

    def fail(_bodies: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(intake, "check_each", fail)
    assert (await direct.answer(direct.request(direct.report()))).status == 500
    monkeypatch.undo()
    assert (await direct.answer(direct.request(direct.report()))).status == 202


async def test_a_stop_answers_what_was_accepted_and_closes(direct: Direct) -> None:
    direct.store.go_on.clear()
    reader, writer = await direct.connect(direct.request(direct.report()))
    idle, writer_of_idle = await direct.connect()
    await until(lambda: bool(direct.store.groups))
    direct.server.should_exit = True
    async with asyncio.timeout(PATIENCE):
        assert await idle.read() == b""
    writer_of_idle.close()
    direct.store.go_on.set()
    answer = await read_answer(reader)
    assert (answer.status, answer.headers["connection"]) == (202, "close")
    async with asyncio.timeout(PATIENCE):
        assert await reader.read() == b""
    writer.close()


async def test_a_connection_has_its_time_limits_after_an_answer(
    collecting: Collecting,
) -> None:
    async with serving(collecting, idle_seconds=1) as direct:
        reader, writer = await direct.connect(direct.request(direct.report()))
        assert (await read_answer(reader)).status == 202
        [connection] = direct.server.server_state.connections
        assert connection in connection.limits.waiting  # type: ignore[union-attr]  # ours
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""
        writer.close()


async def test_a_client_that_reads_no_answers_gets_no_more_without_asgi(direct: Direct) -> None:
    reader, writer = await direct.connect(direct.request(direct.report()))
    assert (await read_answer(reader)).status == 202
    [connection] = direct.server.server_state.connections
    connection.pause_writing()
    writer.write(direct.request(direct.report()))
    await until(lambda: direct.through_asgi == ["POST"])
    connection.resume_writing()
    assert (await read_answer(reader)).status == 202
    writer.close()


async def test_nonsense_after_a_request_ends_the_connection(direct: Direct) -> None:
    reader, writer = await direct.connect(direct.request(direct.report()) + b"\0\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()
    reader, writer = await direct.connect(
        direct.request(b"", [*_PLAIN, b"transfer-encoding: chunked"])
    )
    async with asyncio.timeout(PATIENCE):
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()


async def test_direct_requests_are_logged_and_counted_one_by_one(direct: Direct) -> None:
    before = await direct.figures()
    first = len((await direct.written()).splitlines())
    for body in (direct.report(), b"{}"):
        await direct.answer(direct.request(body))
    lines = [json.loads(line) for line in (await direct.written()).splitlines()[first:]]
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", TEMPLATE, 202),
        ("POST", TEMPLATE, 400),
    ]
    assert all(line["milliseconds"] > 0 for line in lines)
    after = await direct.figures()
    for one in (
        f'requests_total{{method="POST",route="{TEMPLATE}",status="400"}}',
        'reports_total{outcome="accepted"}',
        'refused_total{problem="body-not-understood"}',
    ):
        (name,) = [name for name in after if name.endswith(one)]
        assert after[name] == before.get(name, 0) + 1


async def test_a_group_is_bounded(direct: Direct, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST_TOGETHER", 2)
    direct.store.go_on.clear()
    connections = [await direct.connect(direct.request(direct.report())) for _ in range(6)]
    await until(lambda: bool(direct.store.groups))
    await direct.held(6 - direct.store.groups[0])
    direct.store.go_on.set()
    for reader, writer in connections:
        assert (await read_answer(reader)).body == GOOD
        writer.close()
    assert max(direct.store.groups) == 2
    assert sum(direct.store.groups) == 6


async def test_an_answer_that_fails_leaves_the_others_theirs(direct: Direct) -> None:
    log = io.StringIO()
    app: Any = direct.service.http._transport.app  # type: ignore[attr-defined]  # httpx keeps it
    intake = app.service.lists.known_intake(direct.published.campaign)
    store: Any = direct.store
    metrics = direct.service.dependencies.metrics
    together = ReportGroups(store, metrics, EventLog(direct.service.clock, log))

    def fail(_outcome: object) -> None:
        raise OSError(os.devnull)

    together.add(direct.published.campaign, intake, direct.report(), fail)
    outcome = await together.outcome(direct.published.campaign, intake, direct.report())
    assert not isinstance(outcome, Exception)
    assert outcome.accepted == 1
    assert json.loads(log.getvalue())["error"] == "OSError"
