"""Bodies that would cost the service far more than they cost their sender."""

import asyncio
import gc
import gzip
import json
import threading
import weakref
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from service.bad_requests import GZIP, JSON
from service.running import Published, Service, a_contribution, slug_of

from blender_dp.server.bodies import request_body
from blender_dp.server.bodies.in_flight import SMALL_BYTES, BodiesInFlight
from blender_dp.server.bodies.request_body import LONGEST_EXPLAINED, read_body
from blender_dp.server.bodies.threads import BodyThreads
from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.http.reports.intake import MOST_BATCH_BYTES
from blender_dp.service.state import ServiceState
from blender_dp.wire.documents.strict_json import parse_json
from blender_dp.wire.service.contribution import MOST_BYTES as MOST_OPT_IN_BYTES

pytestmark = pytest.mark.anyio
EMPTY_REPORTS = b'{"reports":[' + b"{}," * (MOST_BATCH_BYTES // 3 - 8) + b"{}]}"
HEADERS = [(b"content-type", b"application/json")]


@pytest.fixture
def explained(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the lengths of the texts that were looked at value by value, as they come."""
    lengths: list[int] = []

    def counting(text: bytes) -> Any:
        lengths.append(len(text))
        return parse_json(text)

    monkeypatch.setattr(request_body, "parse_json", counting)
    return lengths


@pytest.fixture
def inflating(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the threads that inflated, and how many bytes each call returned."""
    seen: list[Any] = []
    made = zlib.decompressobj

    class Stream:
        def __init__(self, bits: int) -> None:
            self._stream: Any = made(bits)

        def decompress(self, content: bytes, most: int) -> bytes:
            piece: bytes = self._stream.decompress(content, most)
            seen.append((threading.current_thread().name, len(piece)))
            return piece

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

    monkeypatch.setattr("blender_dp.server.bodies.request_body.zlib.decompressobj", Stream)
    return seen


async def posted(service: Service, published: Published, content: bytes, **headers: str) -> Any:
    path = f"/v1/campaigns/{published.campaign}/reports"
    return await service.http.post(path, content=content, headers=headers)


async def test_a_bomb_of_empty_reports_is_neither_inflated_nor_explained_to_its_end(
    service: Service, published: Published, explained: list[int], inflating: list[Any]
) -> None:
    bomb = gzip.compress(EMPTY_REPORTS)
    assert len(bomb) < 40_000
    answer = await posted(service, published, bomb, **GZIP)
    assert slug_of(answer) == "wrong-number-of-reports"
    assert explained == []
    assert sum(length for _, length in inflating) < 1 << 20
    assert all(thread.startswith("bodies") for thread, _ in inflating)


async def test_reports_are_counted_before_they_are_decoded(
    service: Service, published: Published, explained: list[int]
) -> None:
    answer = await posted(service, published, EMPTY_REPORTS, **JSON)
    assert slug_of(answer) == "wrong-number-of-reports"
    assert explained == []


@pytest.mark.parametrize(
    ("content", "slug"),
    [
        (b"[" + b"1," * 500_000 + b"1]", "body-not-understood"),
        (b"[" + b"1," * 500_000 + b"]", "body-not-json"),
        (b'{"a":"' + b"\xe9" * 500_000 + b'"}', "body-not-utf-8"),
        (b"[" * 500_000 + b"]" * 500_000, "body-too-deep"),
    ],
    ids=["numbers", "a comma too many", "no UTF-8", "very deep"],
)
async def test_a_long_body_is_explained_without_a_look_at_every_value(
    service: Service, published: Published, explained: list[int], content: bytes, slug: str
) -> None:
    assert slug_of(await posted(service, published, content, **JSON)) == slug
    assert max(explained, default=0) <= LONGEST_EXPLAINED


async def test_a_long_contribution_is_looked_at_only_if_its_fields_are_right(
    service: Service, explained: list[int]
) -> None:
    campaign = await service.with_contributions(0)
    [token] = await service.enrolled(campaign, 1)
    headers = {**JSON, "authorization": f"Bearer {token}"}
    bad = b'{"records":[' + b"{}," * (MOST_OPT_IN_BYTES // 3 - 8) + b"{}]}"
    path = f"/v1/campaigns/{campaign}/opt-in"
    explained.clear()
    answer = await service.http.post(path, content=bad, headers=headers)
    assert slug_of(answer) == "body-not-understood"
    assert explained == []
    good = a_contribution(records=[{"query": "q" * 2000, "url": "u"}] * 100)
    answer = await service.http.post(path, json=good, headers=headers)
    assert answer.status_code == 201
    [length] = explained
    assert length > LONGEST_EXPLAINED


async def test_honest_batches_are_taken_in_either_spelling(
    service: Service, published: Published
) -> None:
    for headers, spelled in ((JSON, bytes), (GZIP, gzip.compress)):
        content = json.dumps(published.batch(300)).encode()
        answer = await posted(service, published, spelled(content), **headers)
        assert answer.json() == {"accepted": 300, "repeated": 0}


async def arriving(pieces: int, length: int) -> AsyncIterator[dict[str, Any]]:
    for number in range(pieces):
        await asyncio.sleep(0)
        yield {"type": "http.request", "body": b" " * length, "more_body": number < pieces - 1}


async def test_many_bodies_together_hold_no_more_than_the_budget() -> None:
    most = 1 << 20
    bodies = BodiesInFlight(most, patience=0.02)
    least_free = most

    async def upload() -> Problem | None:
        nonlocal least_free
        pieces = arriving(16, SMALL_BYTES)
        with bodies.lease() as lease:
            try:
                await read_body(HEADERS, pieces.__anext__, MOST_BATCH_BYTES, lease)
            except ProblemError as refused:
                return refused.problem
            finally:
                least_free = min(least_free, bodies.free)
        return None

    outcomes = await asyncio.gather(*(upload() for _ in range(40)))
    assert Problem.OVERLOADED in outcomes
    assert set(outcomes) <= {None, Problem.OVERLOADED}
    assert 0 <= least_free < most
    assert bodies.free == most


async def test_a_body_waits_until_there_is_room() -> None:
    bodies = BodiesInFlight(SMALL_BYTES, patience=600)
    with bodies.lease() as lease:
        await lease.hold(2 * SMALL_BYTES)
        pieces = arriving(2, SMALL_BYTES)

        async def upload() -> int:
            with bodies.lease() as second:
                body = await read_body(HEADERS, pieces.__anext__, MOST_BATCH_BYTES, second)
                return len(body.content)

        waiting = asyncio.create_task(upload())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting == 2 * SMALL_BYTES
    assert bodies.free == SMALL_BYTES


async def test_who_leaves_while_waiting_holds_nothing() -> None:
    bodies = BodiesInFlight(10, patience=600)
    await bodies.take(10)
    waiting = [asyncio.create_task(bodies.take(5)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    bodies.give_back(10)  # the second and the third, in the turn in which the first leaves
    await asyncio.gather(*waiting, return_exceptions=True)
    assert bodies.free == 0
    bodies.give_back(10)
    assert bodies.free == 10


async def test_without_room_a_batch_is_refused_and_a_single_report_is_not(fresh: Service) -> None:
    published = await fresh.published()
    app: Any = fresh.http._transport.app  # type: ignore[attr-defined]  # httpx keeps it
    service: ServiceState = app.service
    service.bodies = BodiesInFlight(0, patience=0.01)

    async def in_pieces() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b" " * SMALL_BYTES

    path = f"/v1/campaigns/{published.campaign}/reports"
    refused = await fresh.http.post(path, content=in_pieces(), headers=JSON)
    assert (refused.status_code, slug_of(refused)) == (503, "overloaded")
    assert int(refused.headers["retry-after"]) >= 1
    assert (await fresh.send(published.campaign, published.report())).status_code == 202


async def test_more_bodies_than_may_wait_for_a_thread_are_refused() -> None:
    threads, go = BodyThreads(most_waiting=3), threading.Event()
    try:
        working = [asyncio.create_task(threads.run(go.wait)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(ProblemError) as refused:
            await threads.run(go.wait)
        assert refused.value.problem is Problem.OVERLOADED
        go.set()
        assert await asyncio.gather(*working) == [True] * 3
        assert await threads.run(lambda: 7) == 7
    finally:
        go.set()
        threads.close()


async def test_who_sends_refused_bodies_one_after_another_gets_few_answers() -> None:
    threads = BodyThreads(refusal_seconds=0.2)
    loop = asyncio.get_running_loop()

    def refuse() -> None:
        raise Problem.BODY_NOT_GZIP.error()

    began = loop.time()
    for _ in range(3):
        with pytest.raises(ProblemError):
            await threads.run(refuse)
    assert loop.time() - began >= 3 * 0.2
    threads.close()


async def test_a_refusal_that_waits_holds_no_thread_and_no_place() -> None:
    threads, is_read = BodyThreads(most_waiting=1, refusal_seconds=3600), threading.Event()

    def refuse() -> None:
        is_read.set()
        raise Problem.BODY_NOT_GZIP.error()

    refused = asyncio.create_task(threads.run(refuse))
    while not is_read.is_set() or threads._waiting:
        await asyncio.sleep(0.001)
    assert await threads.run(lambda: "taken") == "taken"
    assert not refused.done()
    refused.cancel()
    threads.close()


class Inflated:
    """Stands for the bytes of a body, whose end can be seen."""


async def test_a_refused_body_is_let_go_before_its_answer() -> None:
    threads, held = BodyThreads(refusal_seconds=0.1), list[weakref.ref[Inflated]]()

    def refuse() -> None:
        inflated = Inflated()
        held.append(weakref.ref(inflated))
        try:
            raise ValueError
        except ValueError:
            raise Problem.BODY_NOT_GZIP.error() from None

    gc.collect()
    gc.disable()
    try:
        refused = asyncio.create_task(threads.run(refuse))
        while not held or threads._waiting:
            await asyncio.sleep(0.001)
        assert held[0]() is None, "held while the refusal waits"
        with pytest.raises(ProblemError):
            await refused
        del refused
        for _ in range(5):
            with pytest.raises(ProblemError):
                await threads.run(refuse)
        assert [reference() for reference in held] == [None] * 6
    finally:
        gc.enable()
        threads.close()


async def test_a_body_to_no_campaign_is_not_read(service: Service) -> None:
    path = "/v1/campaigns/00000000-0000-4000-8000-000000000000/reports"
    read: list[int] = []

    async def in_pieces() -> AsyncIterator[bytes]:
        for number in range(3):
            read.append(number)
            yield b" "

    answer = await service.http.post(path, content=in_pieces(), headers=JSON)
    assert slug_of(answer) == "unknown-campaign"
    assert read == []
