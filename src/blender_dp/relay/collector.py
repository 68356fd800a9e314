"""Collector as the relay sees it: batches that it takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

import httpx

from blender_dp.server.collector import ANSWER, Collector, CollectorError, documented
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.documents.strict_json import read_object


class CollectedState(StrEnum):
    """What the collector says of a batch."""

    WAITING = "waiting"
    COMPLETE = "complete"
    COUNTED = "counted"
    ABSENT = "absent"
    DESTROYED = "destroyed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedBatch:
    """How much of a batch the collector has."""

    state: CollectedState
    pieces: frozenset[int]
    statement: object
    """What a relay stated about it; None while there is nothing."""

    def is_another_than(self, statement: Mapping[str, Any]) -> bool:
        """Tell whether the collector has a whole batch, but not the one of this statement."""
        is_whole = self.state in (CollectedState.COMPLETE, CollectedState.COUNTED)
        return is_whole and self.statement != statement


class BatchCollector(Collector):
    """Requests of a relay to one collector."""

    async def batch(self, campaign: UUID) -> CollectedBatch:
        """Return what the collector has of a campaign's batch."""
        found = await self.get(f"/v1/campaigns/{campaign}/relayed-reports")
        if found is None:
            raise CollectorError(404)
        with documented():
            fields = Fields(ANSWER, found)
            signed = fields.value("statement")
            return CollectedBatch(
                state=CollectedState(fields.text("state")),
                pieces=frozenset(map(int, fields.value("pieces_received"))),
                statement=None if signed is None else signed["statement"],
            )

    async def send(self, campaign: UUID, document: bytes) -> bool:
        """Send a piece or a statement; return whether the collector then has everything."""
        path = f"/v1/campaigns/{campaign}/relayed-reports"
        headers = {"content-type": "application/json"}
        try:
            answer = await self.client.post(path, content=document, headers=headers)
        except httpx.HTTPError:
            raise CollectorError from None
        if answer.status_code != 202:
            raise CollectorError(answer.status_code)
        with documented():
            return read_object(ANSWER, answer.content).get("complete") is True
