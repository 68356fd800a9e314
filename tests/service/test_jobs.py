"""Jobs end once, whoever tries and whatever crashes, and leave nothing behind but results."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from service.running import Service, running

from blender_dp.core.channels.report import Question
from blender_dp.service.campaign import Campaign, JobKind
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs import worker as worker_module
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.jobs.worker import LEASE, MOST_ATTEMPTS, Worker
from blender_dp.service.keys.key_vault import KeyDestroyedError, Purpose
from blender_dp.service.storage.store import Document, JobResult

pytestmark = pytest.mark.anyio
ERASED = ("erase", "done", None)
CANARY = "only-one-user-searched-for-this"


async def sealed(service: Service, users: int = 120, **changes: object) -> str:
    campaign = await service.with_contributions(users, **changes)
    await service.moved(campaign, "seal-opt-in", "opt-in-open")
    return campaign


async def jobs_of(service: Service, campaign: str) -> list[tuple[str, str, str | None]]:
    found = (await service.progress(campaign))["jobs"]
    return [(job["kind"], job["state"], job["failure"]) for job in found]


async def test_the_list_is_published_and_the_raw_rows_and_their_key_are_gone(
    fresh: Service,
) -> None:
    campaign = await sealed(fresh)
    await fresh.jobs_done()
    assert await fresh.state(campaign) == "list-published"
    assert [rows async for rows in fresh.dependencies.store.contributions(UUID(campaign))] == []
    for purpose in (Purpose.RECORDS, Purpose.RECORD_TAGS):
        with pytest.raises(KeyDestroyedError):
            fresh.dependencies.keys.key(UUID(campaign), purpose)
    assert fresh.dependencies.keys.key(UUID(campaign), Purpose.REPORT_TAGS)
    assert await jobs_of(fresh, campaign) == [("head-list", "done", None), ("erase", "done", None)]


async def test_after_the_release_no_key_is_left(fresh: Service) -> None:
    published = await fresh.published()
    await fresh.send(published.campaign, published.batch(50))
    await fresh.moved(published.campaign, "seal-clients", "clients-open")
    await fresh.jobs_done()
    assert await fresh.state(published.campaign) == "released"
    for purpose in Purpose:
        with pytest.raises(KeyDestroyedError):
            fresh.dependencies.keys.key(UUID(published.campaign), purpose)


async def test_what_one_user_searched_for_is_nowhere_in_what_is_published(
    fresh: Service, tmp_path: Path
) -> None:
    # Noise lists the record of one user with a probability below δ, so the default would not do.
    small = {"epsilon": 4, "delta": 1e-7}
    campaign = await fresh.with_contributions(120, parameters=small)
    [token] = await fresh.enrolled(campaign, 1)
    await fresh.contribute(campaign, token, records=[{"query": CANARY, "url": CANARY}])
    await fresh.moved(campaign, "seal-opt-in", "opt-in-open")
    await fresh.jobs_done()
    for kind in (Document.HEAD_LIST, Document.OPT_IN_ESTIMATES, Document.CERTIFICATE):
        content = await fresh.dependencies.store.document(UUID(campaign), kind)
        assert content is not None
        assert CANARY.encode() not in content
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and CANARY.encode() in p.read_bytes()]


@pytest.mark.parametrize(
    ("users", "failure"), [(0, Failure.TOO_FEW_OPT_IN_USERS), (2, Failure.TOO_FEW_OPT_IN_USERS)]
)
async def test_too_few_users_fail_the_job_in_one_word(
    fresh: Service, users: int, failure: Failure
) -> None:
    campaign = await sealed(fresh, users)
    await fresh.jobs_done()
    assert await jobs_of(fresh, campaign) == [("head-list", "failed", failure), ERASED]
    assert await fresh.state(campaign) == "opt-in-sealed"
    await fresh.moved(campaign, "purge", "opt-in-sealed")


async def test_an_empty_list_is_not_published(fresh: Service) -> None:
    campaign = await sealed(fresh, 5, parameters={"epsilon": 0.1, "delta": 1e-9})
    await fresh.jobs_done()
    failed = ("head-list", "failed", Failure.EMPTY_HEAD_LIST)
    assert await jobs_of(fresh, campaign) == [failed, ERASED]


@pytest.mark.parametrize("questions", [(), ("record",), ("query", "query", "query")])
async def test_too_few_reports_fail_the_release(
    fresh: Service, questions: Sequence[Question]
) -> None:
    published = await fresh.published()
    for question in questions:
        await fresh.send(published.campaign, published.report_on_a(question))
    await fresh.moved(published.campaign, "seal-clients", "clients-open")
    await fresh.jobs_done()
    assert ("release", "failed", Failure.TOO_FEW_REPORTS) in await jobs_of(
        fresh, published.campaign
    )


async def test_a_destroyed_key_fails_the_job(fresh: Service) -> None:
    campaign = await sealed(fresh, 10)
    fresh.dependencies.keys.destroy(UUID(campaign))
    await fresh.jobs_done()
    failed = ("head-list", "failed", Failure.KEY_DESTROYED)
    assert await jobs_of(fresh, campaign) == [failed, ERASED]


async def test_a_job_whose_worker_died_is_taken_over_when_its_lease_ran_out(
    fresh: Service,
) -> None:
    campaign = await sealed(fresh)
    taken = await fresh.dependencies.store.lease_job("dead")
    assert taken is not None
    await fresh.jobs_done()
    assert await fresh.state(campaign) == "opt-in-sealed"
    fresh.clock.pass_by(LEASE.total_seconds())
    await fresh.jobs_done()
    assert await fresh.state(campaign) == "list-published"


@pytest.mark.parametrize("has_result", [False, True])
async def test_a_worker_that_was_too_slow_stores_nothing(
    fresh: Service, monkeypatch: pytest.MonkeyPatch, has_result: bool
) -> None:
    """Two run the same job; the second takes it over and publishes, the first comes too late."""
    campaign = await sealed(fresh)
    slow, fast = (replace(fresh.worker, owner=name) for name in ("slow", "fast"))
    made = worker_module._RUNNERS[JobKind.HEAD_LIST]
    is_first = True

    async def overtaken(dependencies: Dependencies, of: Campaign) -> JobResult:
        nonlocal is_first
        if not is_first:
            return await made(dependencies, of)
        is_first = False
        result = await made(dependencies, of) if has_result else None
        assert not await fast.run_one()
        fresh.clock.pass_by(LEASE.total_seconds())
        assert await fast.run_one()
        return result or await made(dependencies, of)

    monkeypatch.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, overtaken)
    assert await slow.run_one()
    assert await fresh.state(campaign) == "list-published"
    entries = (await fresh.http.get("/v1/log")).json()["entries"]
    assert [entry["kind"] for entry in entries] == ["campaign", "head-list"]
    assert '"outcome":"lost"' in fresh.event_log.getvalue()


async def test_a_job_that_fails_again_and_again_is_given_up_without_its_message(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await sealed(fresh, 5)

    async def broken(_dependencies: Dependencies, _of: Campaign) -> JobResult:
        raise ValueError(CANARY)

    monkeypatch.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, broken)
    for _ in range(MOST_ATTEMPTS):
        assert (await jobs_of(fresh, campaign))[0][1] != "failed"
        assert await fresh.worker.run_one()
        await fresh.outlast_lease()
    assert await jobs_of(fresh, campaign) == [("head-list", "failed", Failure.GAVE_UP)]
    assert not await fresh.worker.run_one()
    assert "ValueError" in fresh.event_log.getvalue()
    assert CANARY not in fresh.event_log.getvalue()


async def test_a_lease_is_renewed_while_the_job_runs(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await sealed(fresh, 5)
    quick = replace(fresh.worker, lease=timedelta(milliseconds=30))
    made, renewed = worker_module._RUNNERS[JobKind.HEAD_LIST], asyncio.Event()
    store = fresh.dependencies.store
    renew = type(store).renew

    async def noted(self: object, *args: object, **options: object) -> object:
        renewed.set()
        return await renew(self, *args, **options)  # type: ignore[arg-type]

    async def waiting(dependencies: Dependencies, of: Campaign) -> JobResult:
        await asyncio.wait_for(renewed.wait(), 30)
        return await made(dependencies, of)

    monkeypatch.setattr(type(store), "renew", noted)
    monkeypatch.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, waiting)
    assert await quick.run_one()
    assert (await jobs_of(fresh, campaign))[0][0] == "head-list"


async def test_jobs_run_inside_the_service_unless_told_otherwise(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        campaign = await sealed(service, 5)
        task = asyncio.create_task(Worker.of(service.dependencies, service.worker.event_log).run())
        async with asyncio.timeout(60):
            # Either end will do: now and then the noise names one of the five people's records.
            while (await jobs_of(service, campaign))[0][1] not in ("done", "failed"):
                await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
