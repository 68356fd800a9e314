"""SQL of relayed batches: the relay's statement, the pieces as they came, and what became of them.

A relay sends one batch per campaign, in pieces, and may send each piece again. Pieces are numbered
in the order in which the relay shuffled them; no time is stored.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.server.databases.statements import first
from blender_dp.service.campaign import State
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import BatchState, Reason, RelayedBatch, StoreRefusal
from blender_dp.service.storage.tables import campaigns, chains, relayed_rows
from blender_dp.wire.documents.document import canonical, digest_of_bytes
from blender_dp.wire.service.hash_chain import PublicKind

ACTOR = "relay"
_NUMBER_BYTES = 4
Signed = Mapping[str, Any]
"""A relay's statement with its signature."""


async def get(tx: Transaction, campaign_id: UUID) -> RelayedBatch | None:
    """Return the batch of a campaign; None if none is waited for yet."""
    return await relayed_rows.of_campaign(tx, await campaigns.number_of(tx, campaign_id))


async def add_piece(
    tx: Transaction, campaign_id: UUID, signed: Signed, *, piece: int, encrypted: bytes
) -> RelayedBatch:
    """Store a piece unless it is there already; refuse another statement or another content."""
    number, batch = await _awaited(tx, campaign_id, signed)
    if batch.state is not BatchState.WAITING:
        return batch
    if batch.signed is None:
        await _store_statement(tx, number, signed, BatchState.WAITING)
    key = piece.to_bytes(_NUMBER_BYTES, "big")
    known = await first(
        tx, "SELECT encrypted FROM relayed_pieces WHERE campaign = $1 AND piece = $2", number, key
    )
    if known is None:
        await tx.run(
            "INSERT INTO relayed_pieces (campaign, piece, encrypted) VALUES ($1, $2, $3)",
            *(number, key, encrypted),
        )
    elif bytes(known[0]) != encrypted:
        raise StoreRefusal(Reason.BATCH_CHANGED)
    tx.reach("after-piece")
    return await relayed_rows.require(tx, number)


async def add_destroyed(
    tx: Transaction, campaign_id: UUID, signed: Signed, *, now: datetime
) -> RelayedBatch:
    """Store the statement of a relay that it destroyed its reports; the same one again is taken."""
    number, batch = await _awaited(tx, campaign_id, signed)
    if batch.state is BatchState.WAITING:
        await _store_statement(tx, number, signed, BatchState.DESTROYED)
        await _log(tx, campaign_id, signed, now=now)
    return await relayed_rows.require(tx, number)


async def complete(tx: Transaction, campaign_id: UUID, signed: Signed, *, now: datetime) -> None:
    """Acknowledge a batch whose pieces are all there and have the right digest."""
    number, batch = await _awaited(tx, campaign_id, signed)
    if batch.state is BatchState.WAITING:
        await _store_statement(tx, number, signed, BatchState.COMPLETE)
        await _log(tx, campaign_id, signed, now=now)
        tx.reach("after-complete")


async def reject(tx: Transaction, campaign_id: UUID, signed: Signed, *, now: datetime) -> None:
    """Drop all pieces of a batch with another digest than stated; the relay may send it again."""
    number, batch = await _awaited(tx, campaign_id, signed)
    if batch.state is BatchState.WAITING:
        await tx.run("DELETE FROM relayed_pieces WHERE campaign = $1", number)
        await tx.run("UPDATE relayed_batches SET statement = NULL WHERE campaign = $1", number)
        kind = "relay-batch-refused"
        await chains.audit(tx, kind, actor=ACTOR, campaign=campaign_id, now=now)


async def give_up(tx: Transaction, campaign_id: UUID) -> RelayedBatch:
    """Wait no longer: a batch that is not complete now is never taken. Return what there is."""
    campaign = await campaigns.get_locked(tx, campaign_id)
    number = await campaigns.number_of(tx, campaign.id)
    await tx.run(
        "UPDATE relayed_batches SET state = $2 WHERE campaign = $1 AND state = $3",
        *(number, str(BatchState.ABSENT), str(BatchState.WAITING)),
    )
    return await relayed_rows.require(tx, number)


async def piece(tx: Transaction, campaign_id: UUID, piece: int) -> bytes:
    """Return the encrypted reports of one piece."""
    found = await first(
        tx,
        "SELECT encrypted FROM relayed_pieces WHERE campaign = $1 AND piece = $2",
        *(await campaigns.number_of(tx, campaign_id), piece.to_bytes(_NUMBER_BYTES, "big")),
    )
    if found is None:
        raise BrokenInvariantError("a complete batch has all its pieces")
    return bytes(found[0])


async def _awaited(tx: Transaction, campaign_id: UUID, signed: Signed) -> tuple[int, RelayedBatch]:
    """Return a campaign's number and batch if it may have this statement; else refuse.

    A relay that was killed before it read the last answer may ask again after the release.
    """
    campaign = await campaigns.get_locked(tx, campaign_id)
    number = await campaigns.number_of(tx, campaign_id)
    batch = await relayed_rows.of_campaign(tx, number)
    if batch is None or batch.state is BatchState.ABSENT:
        raise StoreRefusal(Reason.NOT_COLLECTING)
    if batch.signed is not None and batch.signed["statement"] != signed["statement"]:
        raise StoreRefusal(Reason.BATCH_CHANGED)
    if batch.state is BatchState.WAITING and campaign.state is not State.CLIENTS_SEALED:
        raise StoreRefusal(Reason.NOT_COLLECTING)
    return number, batch


async def _store_statement(tx: Transaction, number: int, signed: Signed, state: BatchState) -> None:
    await tx.run(
        "UPDATE relayed_batches SET state = $2, statement = $3 WHERE campaign = $1",
        *(number, str(state), json.dumps(signed)),
    )


async def _log(tx: Transaction, campaign_id: UUID, signed: Signed, *, now: datetime) -> None:
    digest = digest_of_bytes(canonical(signed["statement"]))
    kind = PublicKind.RELAY_BATCH
    await chains.publish(tx, kind, campaign=campaign_id, digest=digest, now=now)
    await chains.audit(tx, kind, actor=ACTOR, campaign=campaign_id, now=now, digest=digest)
