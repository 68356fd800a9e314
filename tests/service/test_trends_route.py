"""Trends over HTTP: those of the two published releases, computed by the library."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from service.running import Service, running, slug_of

from blender_dp.search_trends.trends import trends
from blender_dp.service.http.routes import trends as route
from blender_dp.service.http.turns import MOST_WAITING
from blender_dp.wire.published.release import read_release

pytestmark = pytest.mark.anyio
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
async def service(
    anyio_backend: str,  # noqa: ARG001 - makes the loop last as long as the service
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Service]:
    database = None
    if request.param == "postgres":
        database = await request.getfixturevalue("postgres_server").fresh_database()
    async with running(tmp_path_factory.mktemp("trends"), database=database) as started:
        yield started


@pytest.fixture(scope="module")
async def two(service: Service) -> tuple[str, str]:
    """Return two released campaigns, the earlier one first."""
    return await released(service, 200), await released(service, 300)


async def released(service: Service, reports: int) -> str:
    published = await service.published()
    answer = await service.send(published.campaign, published.batch(reports))
    assert answer.status_code == 202
    await service.moved(published.campaign, "seal-clients", "clients-open")
    await service.jobs_done()
    return published.campaign


def path(now: str, since: str) -> str:
    return f"/v1/campaigns/{now}/trends?since={since}"


async def test_two_releases_are_compared_as_the_library_compares_them(
    service: Service, two: tuple[str, str], tmp_path: Path
) -> None:
    then, now = two
    answer = await service.http.get(path(now, then))
    assert answer.status_code == 200, answer.text
    assert "max-age" in answer.headers["cache-control"]

    found = trends(*[await saved(service, one, tmp_path) for one in (now, then)])
    assert answer.json() == {
        "private": found.private,
        "confidence": found.confidence,
        "false_discovery_rate": found.false_discovery_rate,
        "changes": [asdict(change) for change in found.changes or ()],
    }
    assert {change["listing"] for change in answer.json()["changes"]} >= {"listed in both"}
    backwards = (await service.http.get(path(then, now))).json()
    assert sorted(_differences(backwards)) == sorted(-d for d in _differences(answer.json()))
    assert (await service.http.get(path(now, then))).content == answer.content


async def saved(service: Service, campaign: str, folder: Path) -> Any:
    file = folder / f"{campaign}.json"
    file.write_bytes((await service.http.get(f"/v1/campaigns/{campaign}/release")).content)
    return read_release(file)


def _differences(answer: dict[str, Any]) -> list[float]:
    return [c["difference"] for c in answer["changes"] if c["difference"] is not None]


async def test_what_is_not_there_or_not_yet_published_is_refused(
    service: Service, two: tuple[str, str]
) -> None:
    draft, done = await service.created(), two[0]
    for now, since, slug in [
        (NOBODY, done, "unknown-campaign"),
        (done, NOBODY, "unknown-campaign"),
        (draft, done, "not-published"),
        (done, draft, "not-published"),
    ]:
        assert slug_of(await service.http.get(path(now, since))) == slug
    for query, where in [("", None), ("?since=7", "since"), ("?since=", "since")]:
        answer = await service.http.get(f"/v1/campaigns/{done}/trends{query}")
        assert (slug_of(answer), answer.json().get("where")) == ("request-not-understood", where)


async def test_a_pair_is_compared_once_and_few_pairs_wait(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = await released(fresh, 50)
    go_on, compared = threading.Event(), []

    def compare(now: bytes, then: bytes) -> bytes:
        go_on.wait(60)
        compared.append((now, then))
        return b"{}"

    monkeypatch.setattr(route, "_compare", compare)
    asked = [asyncio.create_task(fresh.http.get(path(done, done))) for _ in range(MOST_WAITING + 1)]
    refused, _ = await asyncio.wait(asked, timeout=60, return_when=asyncio.FIRST_COMPLETED)
    go_on.set()
    answers = await asyncio.gather(*asked)
    assert [slug_of(one.result()) for one in refused] == ["overloaded"]
    assert sorted(one.status_code for one in answers) == [200] * MOST_WAITING + [503]
    assert len(compared) == 1
    assert (await fresh.http.get(path(done, done))).content == b"{}"
    assert len(compared) == 1


async def test_a_kept_answer_reads_no_release_and_a_long_release_is_not_compared(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, other = [await released(fresh, 50) for _ in range(2)]
    answer = await fresh.http.get(path(done, done))
    length = len((await fresh.http.get(f"/v1/campaigns/{done}/release")).content)
    monkeypatch.setattr(route, "_MOST_BYTES", length - 1)
    assert slug_of(await fresh.http.get(path(done, other))) == "release-too-large"
    monkeypatch.setattr(route, "read_published", None)
    assert (await fresh.http.get(path(done, done))).content == answer.content
