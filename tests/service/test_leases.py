"""Tests of leases: who may take a job over, whatever clocks and processes do."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import count
from uuid import UUID

import pytest
from service.running import Service

from blender_dp.service.campaign import Campaign, JobKind
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs import worker as worker_module
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.jobs.leases import Lease, LeaseWatch, RunningJob
from blender_dp.service.jobs.worker import LEASE, MOST_ATTEMPTS
from blender_dp.service.storage.store import JobResult

pytestmark = pytest.mark.anyio
SECONDS = LEASE.total_seconds()


def running(renewal: str = "0", *, attempts: int = 1) -> RunningJob:
    return RunningJob(id=7, owner="other", attempts=attempts, renewal=renewal)


async def sealed(service: Service, users: int = 5) -> str:
    campaign = await service.with_contributions(users)
    await service.moved(campaign, "seal-opt-in", "opt-in-open")
    return campaign


async def jobs_of(service: Service, campaign: str) -> list[tuple[str, str | None]]:
    return [(job["state"], job["failure"]) for job in (await service.progress(campaign))["jobs"]]


def test_a_job_counts_as_left_when_its_mark_stayed_the_same() -> None:
    time = 100.0
    others = LeaseWatch(lambda: time)
    others.look([running()])
    assert others.not_renewed_for(SECONDS) == []
    assert others.are_undecided("me")
    time += SECONDS
    others.look([running()])
    assert others.not_renewed_for(SECONDS) == [running()]
    others.look([running("1")])
    assert others.not_renewed_for(SECONDS) == []
    assert not others.are_undecided("me")
    others.look([])
    time += SECONDS
    others.look([running("1")])
    assert others.not_renewed_for(SECONDS) == []
    assert not LeaseWatch(lambda: time).are_undecided("me")


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=400)], ids=["back", "ahead"])
async def test_a_clock_that_jumps_takes_no_job_from_a_living_worker(
    fresh: Service, jump: timedelta
) -> None:
    """Two workers; the clocks of all machines jump while the first one works and renews."""
    campaign = await sealed(fresh)
    held = await fresh.dependencies.store.lease_job("living")
    assert held is not None
    elapsed = count(0, SECONDS / 2)  # half a lease passes between two looks
    observer = replace(fresh.worker, others=LeaseWatch(lambda: float(next(elapsed))))
    fresh.clock.time += jump
    for _ in range(5):
        assert not await observer.run_one()
        held = await fresh.dependencies.store.renew(held)
    await fresh.dependencies.store.fail(held, Failure.GAVE_UP, is_final=False, now=fresh.clock())
    assert await jobs_of(fresh, campaign) == [("failed", Failure.GAVE_UP)]


async def test_a_clock_that_went_back_leaves_no_job_with_a_dead_worker(fresh: Service) -> None:
    campaign = await sealed(fresh)
    assert await fresh.dependencies.store.lease_job("dead") is not None
    elapsed = count(0, SECONDS)
    observer = replace(fresh.worker, others=LeaseWatch(lambda: float(next(elapsed))))
    fresh.clock.time -= timedelta(days=400)
    assert await observer.run_one()
    assert (await jobs_of(fresh, campaign))[0][0] != "running"


async def test_a_job_that_kills_its_process_uses_up_its_attempts(fresh: Service) -> None:
    campaign = await sealed(fresh)
    store = fresh.dependencies.store
    lease = await store.lease_job("dead 1")
    for number in range(2, MOST_ATTEMPTS + 1):
        assert lease is not None
        (left,) = await store.running_jobs()
        lease = await store.take_over(left, f"dead {number}")
    await fresh.outlast_lease()
    assert await fresh.worker.run_one()
    assert await jobs_of(fresh, campaign) == [("failed", Failure.PROCESS_DIED)]
    assert not await fresh.worker.run_one()
    assert [len(rows) async for rows in store.contributions(UUID(campaign))] == [5]


async def test_working_once_takes_what_a_dead_worker_left(fresh: Service) -> None:
    """A process that is started again and again remembers nothing: it waits until it knows."""
    campaign = await sealed(fresh)
    assert await fresh.dependencies.store.lease_job("dead") is not None
    elapsed = count(0, SECONDS / 2)
    once = replace(fresh.worker, others=LeaseWatch(lambda: float(next(elapsed))))
    async with asyncio.timeout(60):
        await once.run_all()
    assert (await jobs_of(fresh, campaign))[0][0] != "running"


async def test_working_once_leaves_a_living_worker_its_job(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await sealed(fresh)
    store = fresh.dependencies.store
    held = await store.lease_job("living")
    assert held is not None
    monkeypatch.setattr(worker_module, "_PAUSE", 0.01)
    once = asyncio.create_task(fresh.worker.run_all())
    await asyncio.sleep(0)
    while not once.done():
        held = await store.renew(held)
        await asyncio.sleep(0.01)
    await once
    assert (await jobs_of(fresh, campaign))[0][0] == "running"


async def test_a_renewal_that_fails_is_tried_again(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sealed(fresh)
    store_type, renewed = type(fresh.dependencies.store), asyncio.Event()
    renew, calls = store_type.renew, count()

    async def faulty(self: object, lease: Lease) -> Lease:
        if next(calls) == 0:
            raise OSError
        renewed.set()
        return await renew(self, lease)  # type: ignore[arg-type]

    async def waiting(_dependencies: Dependencies, _of: Campaign) -> JobResult:
        await asyncio.wait_for(renewed.wait(), 60)
        return JobResult(move=None, documents={}, log_entries=[], counter_sizes={})

    monkeypatch.setattr(store_type, "renew", faulty)
    monkeypatch.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, waiting)
    quick = replace(fresh.worker, lease=timedelta(milliseconds=30))
    assert await quick.run_one()
    assert '"where":"renewal","error":"OSError"' in fresh.event_log.getvalue()
