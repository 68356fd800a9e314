"""Batches of relays in a store: taken in pieces, kept encrypted until the release counts them."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from blender_dp.service.storage.database import Database
from blender_dp.service.storage.store import RelayedBatch
from blender_dp.service.storage.tables import relayed, reports


@dataclass(frozen=True, slots=True)
class RelayedBatches:
    """The part of a store that belongs to relays; every method is one transaction."""

    database: Database

    async def known_report_ids(self, campaign_id: UUID, ids: bytes) -> AbstractSet[bytes]:
        """Return which of these ids (16 bytes each) a direct report has."""
        return await self.database.read(
            partial(reports.known_ids, campaign_id=campaign_id, ids=ids)
        )

    async def relayed_batch(self, campaign_id: UUID) -> RelayedBatch | None:
        """Return the batch of the campaign's relay; None if none is waited for yet."""
        return await self.database.read(partial(relayed.get, campaign_id=campaign_id))

    async def add_relayed_piece(
        self, campaign_id: UUID, signed: Mapping[str, Any], *, piece: int, encrypted: bytes
    ) -> RelayedBatch:
        """Store a piece of a relay's batch; the same piece again changes nothing."""
        return await self.database.write(
            partial(
                relayed.add_piece,
                campaign_id=campaign_id,
                signed=signed,
                piece=piece,
                encrypted=encrypted,
            )
        )

    async def add_destroyed_batch(
        self, campaign_id: UUID, signed: Mapping[str, Any], *, now: datetime
    ) -> RelayedBatch:
        """Store a relay's statement that it destroyed its reports."""
        return await self.database.write(
            partial(relayed.add_destroyed, campaign_id=campaign_id, signed=signed, now=now)
        )

    async def settle_relayed_batch(
        self, campaign_id: UUID, signed: Mapping[str, Any], *, is_right: bool, now: datetime
    ) -> None:
        """Acknowledge a whole batch, or drop it because its digest is not the stated one."""
        settle = relayed.complete if is_right else relayed.reject
        await self.database.write(partial(settle, campaign_id=campaign_id, signed=signed, now=now))

    async def give_up_relayed_batch(self, campaign_id: UUID) -> RelayedBatch:
        """Wait no longer for a batch; return it, which may be complete by now."""
        return await self.database.write(partial(relayed.give_up, campaign_id=campaign_id))

    async def relayed_piece(self, campaign_id: UUID, piece: int) -> bytes:
        """Return the encrypted reports of one piece."""
        return await self.database.read(
            partial(relayed.piece, campaign_id=campaign_id, piece=piece)
        )
