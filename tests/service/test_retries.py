"""Tests of retries: an operator has a job tried again once its cause is gone."""

from datetime import timedelta

import httpx
import pytest
from service.running import Service, slug_of

from blender_dp.service.campaign import Campaign, JobKind
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.http.access import Role
from blender_dp.service.jobs import worker as worker_module
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.jobs.worker import MOST_ATTEMPTS
from blender_dp.service.storage.store import JobResult

pytestmark = pytest.mark.anyio


async def retry(
    service: Service, campaign: str, kind: str, role: Role = Role.OPERATOR
) -> httpx.Response:
    return await service.http.post(
        f"/v1/campaigns/{campaign}/retries", json={"kind": kind}, headers=service.as_role(role)
    )


async def broken(_dependencies: Dependencies, _of: Campaign) -> JobResult:
    raise OSError


async def given_up(service: Service, monkeypatch: pytest.MonkeyPatch, users: int = 120) -> str:
    """Return a campaign whose list could not be made."""
    campaign = await service.with_contributions(users)
    await service.moved(campaign, "seal-opt-in", "opt-in-open")
    with monkeypatch.context() as patched:
        patched.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, broken)
        for _ in range(MOST_ATTEMPTS):
            assert await service.worker.run_one()
            await service.outlast_lease()
    return campaign


async def failed_jobs(service: Service) -> int:
    """Return how many failed jobs whoever watches the service is told of."""
    now = service.clock()
    load = await service.dependencies.store.workload(
        now=now, overdue_since=now - timedelta(hours=1)
    )
    return load.failed


async def test_a_job_that_gave_up_succeeds_when_its_cause_is_gone(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await given_up(fresh, monkeypatch)
    (failed,) = (await fresh.progress(campaign))["jobs"]
    assert (failed["failure"], failed["can_retry"]) == (Failure.GAVE_UP, True)
    answer = await retry(fresh, campaign, "head-list")
    assert answer.status_code == 200
    states = [(job["state"], job["attempts"], job["can_retry"]) for job in answer.json()["jobs"]]
    assert states == [("failed", MOST_ATTEMPTS, False), ("waiting", 0, False)]
    await fresh.jobs_done()
    assert await fresh.state(campaign) == "list-published"
    assert await failed_jobs(fresh) == 0
    audit = await fresh.http.get("/v1/audit-log", headers=fresh.as_role(Role.AUDITOR))
    assert "job-retried" in [entry["kind"] for entry in audit.json()["entries"]]


async def test_a_retry_that_fails_can_be_retried(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await given_up(fresh, monkeypatch, users=5)
    assert (await retry(fresh, campaign, "head-list")).status_code == 200
    monkeypatch.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, broken)
    for _ in range(MOST_ATTEMPTS):
        assert await fresh.worker.run_one()
        await fresh.outlast_lease()
    assert (await retry(fresh, campaign, "head-list")).status_code == 200


async def test_what_waits_failed_for_good_or_is_purged_is_not_retried(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await fresh.with_contributions(2)
    for kind in JobKind:
        assert slug_of(await retry(fresh, campaign, kind)) == "job-not-retriable"
    await fresh.moved(campaign, "seal-opt-in", "opt-in-open")
    assert slug_of(await retry(fresh, campaign, "head-list")) == "job-not-retriable"
    await fresh.jobs_done()
    assert slug_of(await retry(fresh, campaign, "head-list")) == "job-not-retriable"
    other = await given_up(fresh, monkeypatch, users=5)
    await fresh.moved(other, "purge", "opt-in-sealed")
    failed, _ = (await fresh.progress(other))["jobs"]
    assert (failed["kind"], failed["can_retry"]) == ("head-list", False)
    assert slug_of(await retry(fresh, other, "head-list")) == "job-not-retriable"


async def test_only_operators_retry(fresh: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = await given_up(fresh, monkeypatch, users=5)
    for role in (Role.ANALYST, Role.AUDITOR):
        assert slug_of(await retry(fresh, campaign, "head-list", role)) == "role-not-enough"
    assert (await fresh.http.post(f"/v1/campaigns/{campaign}/retries")).status_code == 401
    assert slug_of(await retry(fresh, campaign, "everything")) == "body-not-understood"


async def test_erasing_that_gave_up_is_retried_even_when_purged(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await fresh.with_contributions(2)
    await fresh.moved(campaign, "purge", "opt-in-open")
    with monkeypatch.context() as patched:
        patched.setitem(worker_module._RUNNERS, JobKind.ERASE, broken)
        for _ in range(MOST_ATTEMPTS):
            assert await fresh.worker.run_one()
            await fresh.outlast_lease()
    (failed,) = (await fresh.progress(campaign))["jobs"]
    assert (failed["kind"], failed["can_retry"]) == ("erase", True)
    assert await failed_jobs(fresh) == 1
    assert (await retry(fresh, campaign, "erase")).status_code == 200
    assert await failed_jobs(fresh) == 0
    await fresh.jobs_done()
    assert [job["state"] for job in (await fresh.progress(campaign))["jobs"]] == ["failed", "done"]
