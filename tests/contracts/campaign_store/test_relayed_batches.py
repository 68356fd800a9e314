"""Batches of relays in every store: whole or not at all, once, and erased with the rest."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from blender_dp.service.campaign import JobKind, Move, Rules, State
from blender_dp.service.campaign_relay import CampaignRelay
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import BatchState, Chain, Reason, StoreRefusal
from blender_dp.wire.documents.document import canonical, digest_of_bytes
from blender_dp.wire.reports.packed_items import to_text
from campaign_stores import (
    NOW,
    a_campaign,
    a_release,
    erased,
    leased,
    moved,
    publish_list,
    report_id,
    some_reports,
)

pytestmark = pytest.mark.anyio
RELAY = CampaignRelay(
    address="https://relay.example/", public_key=to_text(bytes(32)), least_batch=20
)


def a_statement(count: int = 30, **changes: Any) -> Mapping[str, Any]:
    statement = {"count": count, "pieces": 3, "digest": "sha256:" + "1" * 64, **changes}
    return {"version": 1, "statement": statement, "public_key": "key", "signature": "signature"}


async def opened(store: DatabaseStore) -> UUID:
    """Return a campaign with a relay that takes reports."""
    campaign = replace(a_campaign(), relay=RELAY, rules=Rules(relay_wait_hours=48))
    await store.put_campaign(campaign, actor="ada")
    await moved(store, campaign.id, Move.OPEN_OPT_IN, State.DRAFT)
    await publish_list(store, campaign.id)
    await moved(store, campaign.id, Move.OPEN_CLIENTS, State.LIST_PUBLISHED)
    return campaign.id


async def awaited(store: DatabaseStore) -> UUID:
    """Return a campaign with a relay that is sealed for clients."""
    campaign = await opened(store)
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    return campaign


async def pieces_left(store: DatabaseStore) -> int:
    (row,) = await store.database.read(lambda tx: tx.rows("SELECT count(*) FROM relayed_pieces"))
    return int(row[0])


async def test_a_batch_is_waited_for_once_the_side_is_sealed(store: DatabaseStore) -> None:
    campaign = await opened(store)
    assert await store.relayed_batch(campaign) is None
    with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
        await store.add_relayed_piece(campaign, a_statement(), piece=0, encrypted=b"one")
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    batch = await store.relayed_batch(campaign)
    assert batch is not None
    assert (batch.state, batch.signed, batch.pieces) == (BatchState.WAITING, None, [])
    assert (await store.progress(campaign)).relayed == batch


async def test_pieces_come_in_any_order_and_more_than_once(
    store: DatabaseStore, other_store: DatabaseStore
) -> None:
    campaign = await awaited(store)
    sent = [(2, b"three"), (0, b"one"), (2, b"three"), (0, b"one"), (1, b"two" * 100_000)]
    await asyncio.gather(
        *(
            (store, other_store)[place % 2].add_relayed_piece(
                campaign, a_statement(), piece=piece, encrypted=encrypted
            )
            for place, (piece, encrypted) in enumerate(sent)
        )
    )
    batch = await other_store.relayed_batch(campaign)
    assert batch is not None
    assert (list(batch.pieces), batch.stated) == ([0, 1, 2], 30)
    read = [await store.relayed_piece(campaign, piece) for piece in batch.pieces]
    assert read == [b"one", b"two" * 100_000, b"three"]


async def test_another_content_or_another_statement_is_refused(store: DatabaseStore) -> None:
    campaign = await awaited(store)
    await store.add_relayed_piece(campaign, a_statement(), piece=1, encrypted=b"two")
    for signed, encrypted in ((a_statement(), b"TWO"), (a_statement(31), b"two")):
        with pytest.raises(StoreRefusal, match=Reason.BATCH_CHANGED):
            await store.add_relayed_piece(campaign, signed, piece=1, encrypted=encrypted)
    with pytest.raises(StoreRefusal, match=Reason.BATCH_CHANGED):
        await store.add_destroyed_batch(campaign, a_statement(5, destroyed=True), now=NOW)
    assert await store.relayed_piece(campaign, 1) == b"two"


async def test_a_whole_batch_is_acknowledged_once_and_logged(store: DatabaseStore) -> None:
    campaign, signed = await awaited(store), a_statement()
    await store.add_relayed_piece(campaign, signed, piece=0, encrypted=b"one")
    for _ in range(2):
        await store.settle_relayed_batch(campaign, signed, is_right=True, now=NOW)
    batch = await store.add_relayed_piece(campaign, signed, piece=1, encrypted=b"late")
    assert batch.state is BatchState.COMPLETE
    assert list(batch.pieces) == [0]
    for chain in Chain:
        entries = await store.log_entries(chain, start=0, limit=100)
        logged = [entry for entry in entries if entry["kind"] == "relay-batch"]
        assert [entry["digest"] for entry in logged] == [
            digest_of_bytes(canonical(signed["statement"]))
        ]


async def test_a_batch_with_another_digest_is_dropped_and_may_come_again(
    store: DatabaseStore,
) -> None:
    campaign = await awaited(store)
    await store.add_relayed_piece(campaign, a_statement(), piece=0, encrypted=b"one")
    await store.settle_relayed_batch(campaign, a_statement(), is_right=False, now=NOW)
    batch = await store.relayed_batch(campaign)
    assert batch is not None
    assert (batch.state, batch.signed, batch.pieces) == (BatchState.WAITING, None, [])
    again = await store.add_relayed_piece(campaign, a_statement(31), piece=0, encrypted=b"uno")
    assert again.stated == 31


async def test_a_relay_that_destroyed_its_reports_says_so_once(store: DatabaseStore) -> None:
    campaign, signed = await awaited(store), a_statement(5, destroyed=True)
    for _ in range(2):
        batch = await store.add_destroyed_batch(campaign, signed, now=NOW)
        assert (batch.state, batch.stated) == (BatchState.DESTROYED, 5)
    with pytest.raises(StoreRefusal, match=Reason.BATCH_CHANGED):
        await store.add_relayed_piece(campaign, a_statement(), piece=0, encrypted=b"one")
    entries = await store.log_entries(Chain.PUBLIC, start=0, limit=100)
    assert [entry["kind"] for entry in entries].count("relay-batch") == 1


async def test_a_batch_that_is_given_up_is_never_taken(store: DatabaseStore) -> None:
    campaign = await awaited(store)
    await store.add_relayed_piece(campaign, a_statement(), piece=0, encrypted=b"one")
    assert (await store.give_up_relayed_batch(campaign)).state is BatchState.ABSENT
    with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
        await store.add_relayed_piece(campaign, a_statement(), piece=1, encrypted=b"two")
    with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
        await store.settle_relayed_batch(campaign, a_statement(), is_right=True, now=NOW)


async def test_a_whole_batch_cannot_be_given_up(store: DatabaseStore) -> None:
    campaign = await awaited(store)
    await store.add_relayed_piece(campaign, a_statement(), piece=0, encrypted=b"one")
    await store.settle_relayed_batch(campaign, a_statement(), is_right=True, now=NOW)
    assert (await store.give_up_relayed_batch(campaign)).state is BatchState.COMPLETE


async def test_the_release_deletes_the_pieces_and_still_answers_the_relay(
    store: DatabaseStore,
) -> None:
    campaign, signed = await awaited(store), a_statement()
    await store.add_relayed_piece(campaign, signed, piece=0, encrypted=b"one")
    await store.settle_relayed_batch(campaign, signed, is_right=True, now=NOW)
    released = replace(a_release(), relayed_counted=29)
    await store.finish(await leased(store, JobKind.RELEASE), released, now=NOW)
    assert await pieces_left(store) == 0
    batch = await store.add_relayed_piece(campaign, signed, piece=0, encrypted=b"one")
    assert (batch.state, batch.counted, batch.pieces) == (BatchState.COMPLETE, 29, [])
    with pytest.raises(StoreRefusal, match=Reason.BATCH_CHANGED):
        await store.add_relayed_piece(campaign, a_statement(31), piece=0, encrypted=b"one")


@pytest.mark.parametrize("pieces", [1, 60])
async def test_a_purge_and_its_erasure_delete_the_pieces(store: DatabaseStore, pieces: int) -> None:
    campaign = await awaited(store)
    for piece in range(pieces):
        await store.add_relayed_piece(
            campaign, a_statement(pieces=pieces), piece=piece, encrypted=b"one"
        )
    await moved(store, campaign, Move.PURGE, State.CLIENTS_SEALED)
    with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
        await store.add_relayed_piece(
            campaign, a_statement(pieces=pieces), piece=0, encrypted=b"one"
        )
    await store.scrub(campaign)
    assert await pieces_left(store) == 0


async def test_a_late_erasure_keeps_what_a_waiting_release_needs(store: DatabaseStore) -> None:
    """An erasure that was put off runs while the release waits for the relay."""
    campaign = await opened(store)
    await store.add_reports(campaign, some_reports([1, 2]))
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    await store.add_relayed_piece(campaign, a_statement(), piece=0, encrypted=b"one")
    await store.scrub(campaign)
    assert await pieces_left(store) == 1
    known = await store.known_report_ids(campaign, report_id(2) + report_id(3))
    assert known == {report_id(2)}
    failed = await leased(store, JobKind.RELEASE)
    await store.fail(failed, "too-few-reports", is_final=True, now=NOW)
    await store.scrub(campaign)
    assert await pieces_left(store) == 0
    await store.finish(await leased(store, JobKind.ERASE), erased(), now=NOW)


async def test_a_release_that_waits_for_its_relay_is_not_overdue(store: DatabaseStore) -> None:
    campaign = await awaited(store)
    later = NOW + timedelta(hours=20)

    async def overdue() -> int:
        found = await store.workload(now=later, overdue_since=later - timedelta(hours=1))
        return found.overdue

    assert await overdue() == 0
    await store.give_up_relayed_batch(campaign)
    assert await overdue() == 1
