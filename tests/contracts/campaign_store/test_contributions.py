"""What opt-in users may do, in every store."""

from uuid import UUID

import pytest

from blender_dp.service.campaign import Move, State
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Contribution, Reason, StoreRefusal
from campaign_stores import a_contribution, moved, opened_for_opt_in, publish_list

pytestmark = pytest.mark.anyio
ADA, BOB = b"a" * 32, b"b" * 32


async def enrolled(store: DatabaseStore, *digests: bytes) -> UUID:
    campaign = await opened_for_opt_in(store)
    await store.add_enrolments(campaign, digests or [ADA, BOB])
    return campaign


async def all_of(store: DatabaseStore, campaign: UUID) -> list[Contribution]:
    return [one async for piece in store.contributions(campaign) for one in piece]


async def counts(store: DatabaseStore, campaign: UUID) -> tuple[int, int, int]:
    progress = await store.progress(campaign)
    return progress.enrolled, progress.contributed, progress.withdrawn


async def test_a_contribution_comes_back_as_it_was_stored(store: DatabaseStore) -> None:
    campaign = await enrolled(store)
    given = a_contribution(ADA, bytes(range(256)))
    assert await store.contribute(campaign, given) is True
    assert await all_of(store, campaign) == [given]
    assert await counts(store, campaign) == (2, 1, 0)


async def test_only_tokens_of_the_campaign_are_enrolments(store: DatabaseStore) -> None:
    campaign, other = await enrolled(store, ADA), await enrolled(store, BOB)
    await store.require_enrolment(campaign, ADA)
    for asked, token, reason in (
        (campaign, BOB, Reason.UNKNOWN_ENROLMENT),
        (other, ADA, Reason.UNKNOWN_ENROLMENT),
        (UUID(int=7), ADA, Reason.UNKNOWN_CAMPAIGN),
    ):
        with pytest.raises(StoreRefusal) as refused:
            await store.require_enrolment(asked, token)
        assert refused.value.reason is reason


async def test_the_same_contribution_again_is_stored_once(store: DatabaseStore) -> None:
    campaign = await enrolled(store)
    assert await store.contribute(campaign, a_contribution(ADA)) is True
    assert await store.contribute(campaign, a_contribution(ADA)) is False
    assert len(await all_of(store, campaign)) == 1


async def test_another_contribution_of_the_same_person_is_refused(store: DatabaseStore) -> None:
    campaign = await enrolled(store)
    await store.contribute(campaign, a_contribution(ADA, b"one"))
    with pytest.raises(StoreRefusal, match=Reason.ALREADY_CONTRIBUTED):
        await store.contribute(campaign, a_contribution(ADA, b"another"))
    assert await all_of(store, campaign) == [a_contribution(ADA, b"one")]


async def test_who_withdraws_is_forgotten_and_stays_out(store: DatabaseStore) -> None:
    campaign = await enrolled(store)
    await store.contribute(campaign, a_contribution(ADA))
    await store.contribute(campaign, a_contribution(BOB))
    await store.withdraw(campaign, ADA)
    assert await all_of(store, campaign) == [a_contribution(BOB)]
    assert await counts(store, campaign) == (2, 1, 1)
    with pytest.raises(StoreRefusal, match=Reason.WITHDRAWN):
        await store.contribute(campaign, a_contribution(ADA))
    await store.withdraw(campaign, ADA)
    assert await counts(store, campaign) == (2, 1, 1)


async def test_strangers_can_neither_contribute_nor_withdraw(store: DatabaseStore) -> None:
    campaign = await enrolled(store, ADA)
    with pytest.raises(StoreRefusal, match=Reason.UNKNOWN_ENROLMENT):
        await store.contribute(campaign, a_contribution(BOB))
    with pytest.raises(StoreRefusal, match=Reason.UNKNOWN_ENROLMENT):
        await store.withdraw(campaign, BOB)


async def test_an_enrolment_is_good_for_its_own_campaign(store: DatabaseStore) -> None:
    await enrolled(store, ADA)
    other = await opened_for_opt_in(store)
    with pytest.raises(StoreRefusal, match=Reason.UNKNOWN_ENROLMENT):
        await store.contribute(other, a_contribution(ADA))


async def test_nothing_changes_after_sealing(store: DatabaseStore) -> None:
    campaign = await enrolled(store)
    await store.contribute(campaign, a_contribution(ADA))
    await moved(store, campaign, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    for asked in (
        store.contribute(campaign, a_contribution(BOB)),
        store.withdraw(campaign, ADA),
        store.add_enrolments(campaign, [b"c" * 32]),
    ):
        with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
            await asked
    assert len(await all_of(store, campaign)) == 1


async def test_enrolling_somebody_again_does_not_reset_them(store: DatabaseStore) -> None:
    campaign = await enrolled(store, ADA)
    await store.contribute(campaign, a_contribution(ADA))
    await store.add_enrolments(campaign, [ADA, BOB])
    assert await counts(store, campaign) == (2, 1, 0)


async def test_many_come_in_pieces_in_the_order_of_their_digests(store: DatabaseStore) -> None:
    digests = [bytes([255 - i]) * 32 for i in range(150)]
    campaign = await enrolled(store, *digests)
    for digest in digests:
        await store.contribute(campaign, a_contribution(digest, digest))
    pieces = [piece async for piece in store.contributions(campaign)]
    assert len(pieces) > 1
    assert [one.enrolment for piece in pieces for one in piece] == sorted(digests)


async def test_publishing_the_list_deletes_them_but_not_the_receipts(
    store: DatabaseStore,
) -> None:
    campaign = await enrolled(store)
    await store.contribute(campaign, a_contribution(ADA))
    await publish_list(store, campaign)
    assert await all_of(store, campaign) == []
    assert await counts(store, campaign) == (2, 1, 0)
