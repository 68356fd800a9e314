"""Leases and results of jobs, in every store."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from blender_dp.service.campaign import JobKind, Move, State
from blender_dp.service.http.reports.checked_reports import Added
from blender_dp.service.jobs.leases import JobState
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Chain, Document, Reason, StoreRefusal
from campaign_stores import (
    NOW,
    a_contribution,
    a_list,
    a_release,
    leased,
    moved,
    opened_for_clients,
    opened_for_opt_in,
    publish_list,
    some_reports,
)

pytestmark = pytest.mark.anyio


async def sealed(store: DatabaseStore) -> UUID:
    campaign = await opened_for_opt_in(store)
    await moved(store, campaign, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    return campaign


async def test_a_job_is_leased_to_one_at_a_time(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    await sealed(store)
    takers = [s.lease_job(f"{i}") for s in (store, other_store) for i in "ab"]
    leases = [lease for lease in await asyncio.gather(*takers) if lease]
    assert len(leases) == 1
    assert leases[0].job.state is JobState.RUNNING


async def test_without_jobs_there_is_no_lease(store: DatabaseStore) -> None:
    assert await store.lease_job("worker") is None


async def test_the_oldest_job_comes_first(store: DatabaseStore) -> None:
    first, second = await sealed(store), await sealed(store)
    assert (await leased(store, JobKind.HEAD_LIST)).job.campaign == first
    assert (await leased(store, JobKind.HEAD_LIST)).job.campaign == second


async def test_a_job_that_is_given_back_waits_again_and_has_used_no_attempt(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    await sealed(store)
    held = await store.renew(await leased(store, JobKind.HEAD_LIST))
    before = await other_store.running_jobs()
    await store.give_back(held)
    assert await other_store.running_jobs() == []
    assert await store.lease_job(held.owner, but=[held.job.id, held.job.id + 1]) is None
    again = await store.lease_job(held.owner, but=[held.job.id + 1])
    assert again is not None
    assert again.job == held.job
    assert await other_store.running_jobs() != before  # who counts seconds begins anew
    await store.give_back(await store.renew(again))
    with pytest.raises(StoreRefusal, match=Reason.LEASE_LOST):
        await store.give_back(again)


async def test_a_job_that_is_taken_over_fences_off_its_first_holder(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    campaign = await sealed(store)
    slow = await leased(store, JobKind.HEAD_LIST)
    assert await other_store.lease_job("other") is None
    (running,) = await other_store.running_jobs()
    quick = await other_store.take_over(running, "other")
    assert quick is not None
    assert quick.job.attempts == 2
    for late in (
        store.renew(slow),
        store.finish(slow, a_list(), now=NOW),
        store.fail(slow, "too-few-users", is_final=True, now=NOW),
    ):
        with pytest.raises(StoreRefusal, match=Reason.LEASE_LOST):
            await late
    assert await store.document(campaign, Document.HEAD_LIST) is None
    await other_store.finish(quick, a_list(), now=NOW)
    assert (await store.campaign(campaign)).state is State.LIST_PUBLISHED


async def test_a_job_that_was_renewed_or_taken_since_is_not_taken_over(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    await sealed(store)
    lease = await leased(store, JobKind.HEAD_LIST)
    seen = await other_store.running_jobs()
    assert seen == await other_store.running_jobs()
    renewed = await store.renew(lease)
    assert renewed.renewals == 1
    assert await other_store.take_over(seen[0], "other") is None
    (fresh,) = await other_store.running_jobs()
    takers = [one.take_over(fresh, name) for one, name in [(store, "a"), (other_store, "b")]]
    assert len([taken for taken in await asyncio.gather(*takers) if taken]) == 1


async def test_no_time_ends_a_lease(store: DatabaseStore) -> None:
    """Clocks may jump: only somebody who takes the job over ends it."""
    campaign = await sealed(store)
    lease = await store.renew(await leased(store, JobKind.HEAD_LIST))
    await store.finish(lease, a_list(), now=NOW + timedelta(days=400))
    assert (await store.campaign(campaign)).state is State.LIST_PUBLISHED
    assert await store.running_jobs() == []


async def test_publishing_stores_everything_at_once(store: DatabaseStore) -> None:
    campaign = await sealed(store)
    lease = await leased(store, JobKind.HEAD_LIST)
    await store.finish(lease, a_list(), now=NOW)
    entries = await store.log_entries(Chain.PUBLIC, start=0, limit=100)
    assert [entry["kind"] for entry in entries] == ["campaign", "head-list"]
    assert await store.document(campaign, Document.HEAD_LIST) == (
        f"signed {entries[1]['hash']}".encode()
    )
    assert await store.document(campaign, Document.RELEASE) is None
    done, erase = (await store.progress(campaign)).jobs
    assert (done.kind, done.state) == (JobKind.HEAD_LIST, JobState.DONE)
    assert (erase.kind, erase.state) == (JobKind.ERASE, JobState.WAITING)


async def test_what_fails_half_way_leaves_nothing(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store)
    await store.add_enrolments(campaign, [b"a" * 32])
    await store.contribute(campaign, a_contribution(b"a" * 32))
    await moved(store, campaign, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    lease = await leased(store, JobKind.HEAD_LIST)

    def broken(_entries: object) -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.finish(lease, replace(a_list(), documents={Document.RELEASE: broken}), now=NOW)
    assert (await store.campaign(campaign)).state is State.OPT_IN_SEALED
    assert len(await store.log_entries(Chain.PUBLIC, start=0, limit=100)) == 1
    assert len([piece async for piece in store.contributions(campaign)]) == 1
    await store.finish(lease, a_list(), now=NOW)


async def test_the_result_of_a_second_run_is_refused(store: DatabaseStore) -> None:
    campaign = await sealed(store)
    lease = await leased(store, JobKind.HEAD_LIST)
    await store.finish(lease, a_list(), now=NOW)
    before = await store.document(campaign, Document.HEAD_LIST)
    with pytest.raises(StoreRefusal, match=Reason.LEASE_LOST):
        await store.finish(lease, a_list(), now=NOW)
    assert await store.document(campaign, Document.HEAD_LIST) == before
    assert len(await store.log_entries(Chain.PUBLIC, start=0, limit=100)) == 2


async def test_a_job_that_cannot_succeed_is_not_tried_again(store: DatabaseStore) -> None:
    campaign = await sealed(store)
    lease = await leased(store, JobKind.HEAD_LIST)
    await store.fail(lease, "too-few-users", is_final=False, now=NOW)
    (job,) = (await store.progress(campaign)).jobs
    assert (job.state, job.failure) == (JobState.FAILED, "too-few-users")
    assert await store.lease_job("worker") is None
    await moved(store, campaign, Move.PURGE, State.OPT_IN_SEALED)


@pytest.mark.parametrize("is_final", [True, False])
async def test_a_final_failure_deletes_the_contributions_and_erases(
    store: DatabaseStore, is_final: bool
) -> None:
    campaign = await opened_for_opt_in(store)
    await store.add_enrolments(campaign, [b"a" * 32])
    await store.contribute(campaign, a_contribution(b"a" * 32))
    await moved(store, campaign, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    lease = await leased(store, JobKind.HEAD_LIST)
    await store.fail(lease, "empty-head-list", is_final=is_final, now=NOW)
    assert len([piece async for piece in store.contributions(campaign)]) == (not is_final)
    kinds = [job.kind for job in (await store.progress(campaign)).jobs]
    assert kinds == [JobKind.HEAD_LIST] + [JobKind.ERASE] * is_final


async def test_a_final_failure_of_the_release_deletes_the_report_ids(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports(range(5)))
    assert await report_ids(store) > 0
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    await store.fail(
        await leased(store, JobKind.RELEASE), "too-few-reports", is_final=True, now=NOW
    )
    assert await report_ids(store) == 0
    assert (await store.progress(campaign)).jobs[-1].kind is JobKind.ERASE


async def report_ids(store: DatabaseStore) -> int:
    """Count the report ids that a store holds, of all campaigns."""
    assert isinstance(store, DatabaseStore)
    (row,) = await store.database.read(
        lambda tx: tx.rows(
            "SELECT (SELECT count(*) FROM report_ids) + (SELECT count(*) FROM older_report_ids)"
        )
    )
    return int(row[0])


async def test_the_results_of_a_purged_campaign_are_refused(store: DatabaseStore) -> None:
    campaign = await sealed(store)
    lease = await leased(store, JobKind.HEAD_LIST)
    await moved(store, campaign, Move.PURGE, State.OPT_IN_SEALED)
    with pytest.raises(StoreRefusal, match=Reason.LEASE_LOST):
        await store.finish(lease, a_list(), now=NOW)


async def test_a_result_of_another_state_is_refused(store: DatabaseStore) -> None:
    campaign = await sealed(store)
    lease = await leased(store, JobKind.HEAD_LIST)
    with pytest.raises(StoreRefusal, match=Reason.MOVE_NOT_ALLOWED):
        await store.finish(lease, a_release(), now=NOW)
    assert (await store.campaign(campaign)).state is State.OPT_IN_SEALED


async def test_a_store_is_bound_to_the_first_keys(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    assert await store.key_fingerprint() is None
    bound = set(await asyncio.gather(store.bind_keys("first"), other_store.bind_keys("second")))
    assert len(bound) == 1
    assert {await store.key_fingerprint(), await other_store.bind_keys("third")} == bound


async def test_releasing_forgets_report_ids_and_keeps_the_counts(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([1, 2, 3], cells=[0, 0, 1]))
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    await store.finish(await leased(store, JobKind.RELEASE), a_release(), now=NOW)
    assert await store.document(campaign, Document.RELEASE) == b"released"
    counts = await store.report_counts(campaign)
    assert (counts.cell_reports, counts.cells.tolist()[:2]) == (3, [2, 1])


async def test_an_erase_job_leaves_a_note_and_no_move(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store)
    await publish_list(store, campaign)
    await store.scrub(campaign)
    last = (await store.log_entries(Chain.AUDIT, start=0, limit=100))[-1]
    assert (last["kind"], last["actor"], last["digest"]) == ("erase", "job erase", None)
    assert (await store.campaign(campaign)).state is State.LIST_PUBLISHED


async def test_scrubbing_while_others_write_disturbs_nobody(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    uploads = [store.add_reports(campaign, some_reports([i], cells=[0])) for i in range(50)]
    *added, _ = await asyncio.gather(*uploads, store.scrub(campaign))
    assert added == [Added(accepted=1, repeated=0)] * 50
