"""Tests of jobs that fail: nothing is published, nothing is kept longer than needed."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from service.running import Service

from blender_dp.core.certificate.certificate import Certificate
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.errors import TooMuchForMemoryError
from blender_dp.service.campaign import Campaign, JobKind
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs import head_list as head_list_module
from blender_dp.service.jobs import release as release_module
from blender_dp.service.jobs import worker as worker_module
from blender_dp.service.jobs.failures import Failure
from blender_dp.service.jobs.worker import MOST_ATTEMPTS
from blender_dp.service.keys.key_vault import KeyDestroyedError, Purpose
from blender_dp.service.storage.store import Document, JobResult

pytestmark = pytest.mark.anyio
OF_RECORDS = (Purpose.RECORDS, Purpose.RECORD_TAGS)


async def sealed(service: Service, users: int, **changes: object) -> str:
    campaign = await service.with_contributions(users, **changes)
    await service.moved(campaign, "seal-opt-in", "opt-in-open")
    return campaign


async def clients_sealed(service: Service, reports: int) -> str:
    published = await service.published()
    if reports:
        await service.send(published.campaign, published.batch(reports))
    await service.moved(published.campaign, "seal-clients", "clients-open")
    return published.campaign


async def failed_jobs(service: Service, campaign: str) -> list[tuple[str, str]]:
    jobs = (await service.progress(campaign))["jobs"]
    return [(job["kind"], job["failure"]) for job in jobs if job["failure"]]


def assert_destroyed(service: Service, campaign: str, *purposes: Purpose) -> None:
    for purpose in purposes:
        with pytest.raises(KeyDestroyedError):
            service.dependencies.keys.key(UUID(campaign), purpose)


def breaking(certified: Callable[..., Certificate]) -> Callable[..., Certificate]:
    """Return a certificate of the same releases under a promise of half the ε."""

    def broken(*arguments: Any, **options: Any) -> Certificate:
        certificate = certified(*arguments, **options)
        halved = [
            replace(one, promised_epsilon=one.promised_epsilon / 2) for one in certificate.accounts
        ]
        return replace(certificate, accounts=tuple(halved))

    return broken


@pytest.mark.parametrize("gate", ["certify_plan", "certify_curated"])
async def test_a_list_that_breaks_the_promise_is_not_published(
    fresh: Service, monkeypatch: pytest.MonkeyPatch, gate: str
) -> None:
    monkeypatch.setattr(head_list_module, gate, breaking(getattr(head_list_module, gate)))
    campaign = await sealed(fresh, 120)
    await fresh.jobs_done()
    assert await failed_jobs(fresh, campaign) == [("head-list", Failure.PROMISE_BROKEN)]
    assert await fresh.state(campaign) == "opt-in-sealed"
    for kind in Document:
        assert await fresh.dependencies.store.document(UUID(campaign), kind) is None
    entries = (await fresh.http.get("/v1/log")).json()["entries"]
    assert [entry["kind"] for entry in entries] == ["campaign"]


async def test_a_release_that_breaks_the_promise_is_not_published(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await clients_sealed(fresh, 50)
    certificate = await fresh.dependencies.store.document(UUID(campaign), Document.CERTIFICATE)
    monkeypatch.setattr(release_module, "certify_curated", breaking(certify_curated))
    await fresh.jobs_done()
    assert await failed_jobs(fresh, campaign) == [("release", Failure.PROMISE_BROKEN)]
    assert await fresh.state(campaign) == "clients-sealed"
    for kind in (Document.RELEASE, Document.CLIENT_ESTIMATES):
        assert await fresh.dependencies.store.document(UUID(campaign), kind) is None
    assert (
        await fresh.dependencies.store.document(UUID(campaign), Document.CERTIFICATE) == certificate
    )


async def no_list(service: Service) -> str:
    return await sealed(service, 5, parameters={"epsilon": 0.1, "delta": 1e-9})


async def two_users(service: Service) -> str:
    return await sealed(service, 2)


@pytest.mark.parametrize("fail", [no_list, two_users])
async def test_a_final_failure_erases_the_records_and_their_keys(
    fresh: Service, fail: Callable[[Service], Awaitable[str]]
) -> None:
    campaign = await fail(fresh)
    await fresh.jobs_done()
    assert [rows async for rows in fresh.dependencies.store.contributions(UUID(campaign))] == []
    assert_destroyed(fresh, campaign, *OF_RECORDS)
    failed, erase = (await fresh.progress(campaign))["jobs"]
    assert failed["advice"].startswith("A job erases its records. Purge the campaign")
    assert (erase["kind"], erase["state"], erase["advice"]) == ("erase", "done", None)


async def test_a_failed_release_destroys_the_key_of_the_reports(fresh: Service) -> None:
    campaign = await clients_sealed(fresh, 0)
    await fresh.jobs_done()
    assert await failed_jobs(fresh, campaign) == [("release", Failure.TOO_FEW_REPORTS)]
    assert_destroyed(fresh, campaign, *Purpose)


async def test_a_failure_that_may_pass_keeps_the_records_for_a_retry(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = await sealed(fresh, 5)

    async def broken(_dependencies: Dependencies, _of: Campaign) -> JobResult:
        raise ValueError

    monkeypatch.setitem(worker_module._RUNNERS, JobKind.HEAD_LIST, broken)
    await tried(fresh, MOST_ATTEMPTS)
    assert await failed_jobs(fresh, campaign) == [("head-list", Failure.GAVE_UP)]
    assert [len(rows) async for rows in fresh.dependencies.store.contributions(UUID(campaign))] == [
        5
    ]
    assert fresh.dependencies.keys.key(UUID(campaign), Purpose.RECORDS)


@pytest.mark.parametrize("error", [TooMuchForMemoryError("12 rows"), MemoryError(), ValueError()])
async def test_nobody_is_told_that_the_records_were_too_many(
    fresh: Service, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """How much memory the records need depends on them: whatever fails looks the same."""

    def curate(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(head_list_module, "curate", curate)
    campaign = await sealed(fresh, 5)
    await tried(fresh, MOST_ATTEMPTS)
    (job,) = (await fresh.progress(campaign))["jobs"]
    assert (job["failure"], job["attempts"]) == (Failure.GAVE_UP, MOST_ATTEMPTS)
    figures = fresh.dependencies.metrics.text().decode()
    assert 'blender_dp_jobs_total{kind="head-list",outcome="failed"} 1.0' in figures
    assert 'outcome="tried"' not in figures


@pytest.mark.parametrize("fail", [no_list, two_users])
async def test_figures_for_everybody_do_not_say_why_a_job_failed(
    fresh: Service, fail: Callable[[Service], Awaitable[str]]
) -> None:
    await fail(fresh)
    await fresh.jobs_done()
    figures = fresh.dependencies.metrics.text().decode()
    assert 'blender_dp_jobs_total{kind="head-list",outcome="failed"} 1.0' in figures
    assert not [failure for failure in Failure if failure in figures]


async def tried(service: Service, attempts: int) -> None:
    """Let a job fail so often."""
    for _ in range(attempts):
        assert await service.worker.run_one()
        await service.outlast_lease()
