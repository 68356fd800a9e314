"""Tests of jobs for which the store has no time: they wait, and nothing untrue is said of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from service.running import Service, running
from service.test_leases import jobs_of, sealed

from blender_dp.service.campaign import Campaign, JobKind
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs import worker as worker_module
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.jobs.leases import PostponedJobs
from blender_dp.service.jobs.worker import MOST_ATTEMPTS
from blender_dp.service.storage.sqlite import database as sqlite_database
from blender_dp.service.storage.store import JobResult, Reason, StoreRefusal

pytestmark = pytest.mark.anyio
LONGEST_PAUSE = 900


async def test_erasing_waits_for_a_long_reader_and_keeps_no_other_job_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "_TRIES", 1)
    monkeypatch.setattr(sqlite_database, "_PAUSE", 0.0)
    async with running(tmp_path) as service:
        campaign = await service.with_contributions(2)
        await service.moved(campaign, "purge", "opt-in-open")
        file = tmp_path / "service.sqlite"
        with closing(sqlite3.connect(file, isolation_level=None)) as backup:
            backup.execute("BEGIN")
            backup.execute("SELECT count(*) FROM jobs").fetchone()
            for _ in range(2 * MOST_ATTEMPTS):
                assert await service.worker.run_one()
                assert not await service.worker.run_one()
                assert await jobs_of(service, campaign) == [("waiting", None)]
                service.clock.pass_by(LONGEST_PAUSE)
            assert await service.worker.run_one()
            other = await sealed(service, users=0)
            assert await service.worker.run_one()
            assert (await jobs_of(service, other))[0] == ("failed", Failure.TOO_FEW_OPT_IN_USERS)
        service.clock.pass_by(LONGEST_PAUSE)
        await service.jobs_done()
        assert await jobs_of(service, campaign) == [("done", None)]
        assert '"kind":"erase","outcome":"put-off"' in service.event_log.getvalue()


async def test_a_job_that_the_store_refuses_otherwise_is_given_up(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(_dependencies: Dependencies, _of: Campaign) -> JobResult:
        raise StoreRefusal(Reason.MOVE_NOT_ALLOWED)

    monkeypatch.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, refused)
    campaign = await sealed(fresh)
    for _ in range(MOST_ATTEMPTS):
        assert await fresh.worker.run_one()
        await fresh.outlast_lease()
    assert await jobs_of(fresh, campaign) == [("failed", Failure.GAVE_UP)]


def test_the_pauses_grow_up_to_a_quarter_of_an_hour() -> None:
    time = 0.0
    put_off = PostponedJobs(lambda: time)
    for pause in (60, 120, 240, 480, 900, 900):
        put_off.add(7)
        time += pause - 1
        assert put_off.not_due() == [7]
        time += 1
        assert put_off.not_due() == []
    put_off.forget(7)
    put_off.add(7)
    time += 60
    assert put_off.not_due() == []
