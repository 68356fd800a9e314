"""Campaigns, their moves and their counts, in every store."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest

from blender_dp.core.errors import ParameterError
from blender_dp.service.campaign import JobKind, Move, Reports, State
from blender_dp.service.campaign_description import description
from blender_dp.service.jobs.leases import JobState
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import ANY_DESCRIPTION, Chain, Reason, StoreRefusal
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.tokens.blind_signer import draw_signing_key, read_signing_key
from blender_dp.wire.tokens.issuer import Issuer
from blender_dp.wire.tokens.token_key import TokenKey
from campaign_stores import (
    LATER,
    NOW,
    a_campaign,
    a_contribution,
    leased,
    moved,
    opened_for_clients,
    opened_for_opt_in,
    some_reports,
)

pytestmark = pytest.mark.anyio


async def test_a_description_comes_back_as_it_was_stored(store: DatabaseStore) -> None:
    campaign = a_campaign()
    await store.put_campaign(campaign, actor="operator")
    assert await store.description(campaign.id) == description(campaign)
    with pytest.raises(StoreRefusal, match=Reason.UNKNOWN_CAMPAIGN):
        await store.description(uuid4())


async def test_a_campaign_comes_back_as_it_was_stored(store: DatabaseStore) -> None:
    campaign = a_campaign("naïve · 搜索")
    await store.put_campaign(campaign, actor="ada")
    assert await store.campaign(campaign.id) == campaign


async def test_the_same_campaign_put_three_times_at_once_is_one(store: DatabaseStore) -> None:
    campaign = a_campaign()
    made = await asyncio.gather(*(store.put_campaign(campaign, actor="ada") for _ in range(3)))
    assert made == [campaign] * 3
    assert [one.id for one in await store.campaigns(after=None, limit=10)] == [campaign.id]
    assert [one["kind"] for one in await store.log_entries(Chain.AUDIT, start=0, limit=10)] == [
        "campaign"
    ]


async def test_a_draft_can_be_changed_and_an_open_campaign_cannot(store: DatabaseStore) -> None:
    campaign = a_campaign()
    await store.put_campaign(campaign, actor="ada")
    edited = replace(campaign, purpose="another one", created_at=LATER, moved_at=LATER)
    read = frozenset({digest_of(description(campaign))})
    stored = await store.put_campaign(edited, actor="bob", replaceable=read)
    assert stored == replace(campaign, purpose="another one") == await store.campaign(campaign.id)
    assert await store.description(campaign.id) == description(stored)
    logged = (await store.log_entries(Chain.AUDIT, start=0, limit=10))[-1]
    assert (logged["kind"], logged["actor"]) == ("edit", "bob")
    assert logged["digest"] == digest_of(description(stored))
    await moved(store, campaign.id, Move.OPEN_OPT_IN, State.DRAFT)
    assert (await store.put_campaign(edited, actor="bob")).state is State.OPT_IN_OPEN
    with pytest.raises(StoreRefusal, match=Reason.NOT_A_DRAFT):
        await store.put_campaign(campaign, actor="bob")
    assert await store.description(campaign.id) == description(stored)


async def test_a_late_request_does_not_undo_what_somebody_else_changed(
    store: DatabaseStore,
) -> None:
    first = a_campaign()
    await store.put_campaign(first, actor="ada")
    read = frozenset({digest_of(description(first))})
    second, third = (replace(first, purpose=purpose) for purpose in ("second", "third"))
    with pytest.raises(StoreRefusal, match=Reason.DRAFT_CHANGED):
        await store.put_campaign(second, actor="ada")
    await store.put_campaign(second, actor="ada", replaceable=read)
    latest = frozenset({digest_of(description(second))})
    await store.put_campaign(third, actor="bob", replaceable=latest)
    for late, named in ((second, read), (first, None), (second, frozenset())):
        with pytest.raises(StoreRefusal, match=Reason.DRAFT_CHANGED):
            await store.put_campaign(late, actor="ada", replaceable=named)
    # The answer to the last request may have been lost: it is given again.
    assert await store.put_campaign(third, actor="bob", replaceable=latest) == third
    assert await store.campaign(first.id) == third
    assert await store.put_campaign(first, actor="ada", replaceable=ANY_DESCRIPTION) == first
    nobodys = a_campaign("never made")
    with pytest.raises(StoreRefusal, match=Reason.UNKNOWN_CAMPAIGN):
        await store.put_campaign(nobodys, actor="ada", replaceable=ANY_DESCRIPTION)


async def test_an_issuers_key_is_for_one_campaign(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    """Put at once in two processes, too: one key in two campaigns would give people two tokens."""
    issuer = Issuer(address="https://issuer.example/", public_key=a_token_key())
    two = [replace(a_campaign(reports=Reports.TOKEN), issuer=issuer) for _ in range(2)]
    putting = zip((store, other_store), two, strict=True)
    outcomes = await asyncio.gather(
        *(one.put_campaign(campaign, actor="ada") for one, campaign in putting),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes if outcome not in two] == [ParameterError]
    (kept,) = await store.campaigns(after=None, limit=10)
    assert await store.put_campaign(kept, actor="ada") == kept  # a repeated request
    edit = partial(store.put_campaign, actor="ada", replaceable=ANY_DESCRIPTION)
    assert await edit(replace(kept, purpose="another"))
    other = replace(
        a_campaign(reports=Reports.TOKEN), issuer=replace(issuer, public_key=a_token_key())
    )
    await store.put_campaign(other, actor="ada")
    with pytest.raises(ParameterError, match=r"issuer\.public_key must be a key that no other"):
        await edit(replace(other, issuer=issuer))
    assert (await store.campaign(other.id)).issuer == other.issuer


def a_token_key() -> str:
    return TokenKey(read_signing_key(draw_signing_key()).public_key()).text


async def test_campaigns_are_listed_newest_first_page_by_page(store: DatabaseStore) -> None:
    added = [a_campaign(f"campaign {i}") for i in range(5)]
    for campaign in added:
        await store.put_campaign(campaign, actor="ada")
    newest = [c.name for c in await store.campaigns(after=None, limit=2)]
    assert newest == ["campaign 4", "campaign 3"]
    rest = await store.campaigns(after=added[3].id, limit=100)
    assert [c.name for c in rest] == ["campaign 2", "campaign 1", "campaign 0"]


async def test_an_unknown_campaign_is_refused_everywhere(store: DatabaseStore) -> None:
    nobody = uuid4()
    for asked in (
        store.campaign(nobody),
        store.campaigns(after=nobody, limit=1),
        moved(store, nobody, Move.PURGE, State.DRAFT),
        store.progress(nobody),
        store.add_refusals(nobody, {"too-large": 1}),
        store.add_enrolments(nobody, [b"x" * 32]),
        store.contribute(nobody, a_contribution(b"x" * 32)),
        store.withdraw(nobody, b"x" * 32),
        store.add_reports(nobody, some_reports([1])),
        store.report_counts(nobody),
        store.scrub(nobody),
    ):
        with pytest.raises(StoreRefusal) as refusal:
            await asked
        assert refusal.value.reason is Reason.UNKNOWN_CAMPAIGN


async def test_a_move_is_made_once_and_leaves_its_job(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store)
    sealed = await store.move(
        campaign, Move.SEAL_OPT_IN, origin=State.OPT_IN_OPEN, actor="ada", now=LATER
    )
    assert sealed.state is State.OPT_IN_SEALED
    assert sealed.moved_at == LATER
    assert await store.campaign(campaign) == sealed
    with pytest.raises(StoreRefusal, match=Reason.MOVE_NOT_ALLOWED):
        await moved(store, campaign, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    (job,) = (await store.progress(campaign)).jobs
    assert (job.kind, job.state, job.attempts) == (JobKind.HEAD_LIST, JobState.WAITING, 0)


@pytest.mark.parametrize("move", [Move.PUBLISH_LIST, Move.RELEASE])
async def test_nobody_but_a_job_publishes_or_releases(store: DatabaseStore, move: Move) -> None:
    campaign = await opened_for_opt_in(store)
    await moved(store, campaign, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    with pytest.raises(StoreRefusal, match=Reason.MOVE_NOT_ALLOWED):
        await moved(store, campaign, move, State.OPT_IN_SEALED)


async def test_a_move_from_a_state_that_was_left_is_refused(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store)
    with pytest.raises(StoreRefusal, match=Reason.MOVE_NOT_ALLOWED):
        await moved(store, campaign, Move.PURGE, State.DRAFT)
    assert (await store.campaign(campaign)).state is State.OPT_IN_OPEN


async def test_purging_leaves_nothing_but_what_was_published(store: DatabaseStore) -> None:
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([1, 2, 3]))
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    running = await leased(store, JobKind.RELEASE)
    await moved(store, campaign, Move.PURGE, State.CLIENTS_SEALED)
    progress = await store.progress(campaign)
    assert (progress.enrolled, progress.record_reports) == (0, 0)
    assert not (await store.report_counts(campaign)).cells.any()
    assert {job.id: job.state for job in progress.jobs}[running.job.id] is JobState.FAILED
    assert (await leased(store, JobKind.ERASE)).job.campaign == campaign
    assert await store.lease_job("worker") is None


async def test_purging_takes_contributions_back(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store)
    await store.add_enrolments(campaign, [b"a" * 32])
    await store.contribute(campaign, a_contribution(b"a" * 32))
    await moved(store, campaign, Move.PURGE, State.OPT_IN_OPEN)
    assert [piece async for piece in store.contributions(campaign)] == []


async def test_refusals_add_up_by_reason(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store)
    await store.add_refusals(campaign, {"too-large": 2, "not-json": 1})
    await store.add_refusals(campaign, {"too-large": 3})
    assert (await store.progress(campaign)).refused == {"too-large": 5, "not-json": 1}


async def test_times_keep_their_fractions_and_their_zone(store: DatabaseStore) -> None:
    campaign = await opened_for_opt_in(store)
    late = NOW + timedelta(microseconds=1)
    sealed = await store.move(
        campaign, Move.SEAL_OPT_IN, origin=State.OPT_IN_OPEN, actor="a rule", now=late
    )
    assert (await store.campaign(campaign)).moved_at == sealed.moved_at == late


async def test_a_closed_store_refuses_and_a_reachable_one_answers(store: DatabaseStore) -> None:
    await store.require_writable()
    await store.close()
    with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
        await store.require_writable()
    with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
        await store.put_campaign(a_campaign(), actor="ada")
