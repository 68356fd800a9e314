"""Collector as the relay sees it: campaigns, signed lists, and batches that it takes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

import httpx

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.service.hash_chain import PublicKind

OPEN = "clients-open"
PUBLISHED = "list-published"
NOT_YET_OPEN = ("draft", "opt-in-open", "opt-in-sealed", PUBLISHED)
SEALED = "clients-sealed"
OVER = ("released", "purged")
"""States of a campaign in which the collector takes no batch any more."""
_SECONDS = 30.0
_MOST_BYTES = 2**28
_WHAT = "the collector's answer"


class CollectorError(BlenderError):
    """The collector did not answer as documented; the same may be tried later."""

    def __init__(self, status: int | None = None) -> None:
        self.status = status
        super().__init__("the collector did not answer as documented")


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


class Collector:
    """Requests to one collector."""

    def __init__(self, address: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = httpx.AsyncClient(
            base_url=address.rstrip("/"),
            timeout=_SECONDS,
            headers={"user-agent": "blender-dp"},
            transport=transport,
        )

    async def state(self, campaign: UUID) -> str | None:
        """Return the state of a campaign; None if the collector does not know it."""
        found = await self._get(f"/v1/campaigns/{campaign}")
        with _documented():
            return None if found is None else Fields(_WHAT, found).text("state")

    async def head_list(self, campaign: UUID) -> Mapping[str, Any] | None:
        """Return the signed head list of a campaign, unchecked; None if there is none."""
        return await self._get(f"/v1/campaigns/{campaign}/head-list")

    async def announced(self, start: int) -> Sequence[UUID | None] | None:
        """Return the campaign of each head list in the public log, from an index on.

        Other entries give None. So does the whole answer if the log has fewer entries than that.
        """
        try:
            found = await self._get(f"/v1/log?from={start}")
        except CollectorError as error:
            if error.status == 400:
                return None
            raise
        if found is None:
            return ()
        with _documented():
            return [
                UUID(entry.text("campaign")) if entry.text("kind") == PublicKind.HEAD_LIST else None
                for entry in Fields(_WHAT, found).parts("entries")
            ]

    async def batch(self, campaign: UUID) -> CollectedBatch:
        """Return what the collector has of a campaign's batch."""
        found = await self._get(f"/v1/campaigns/{campaign}/relayed-reports")
        if found is None:
            raise CollectorError(404)
        with _documented():
            fields = Fields(_WHAT, found)
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
            answer = await self._client.post(path, content=document, headers=headers)
        except httpx.HTTPError:
            raise CollectorError from None
        if answer.status_code != 202:
            raise CollectorError(answer.status_code)
        with _documented():
            return read_object(_WHAT, answer.content).get("complete") is True

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()

    async def _get(self, path: str) -> dict[str, Any] | None:
        try:
            answer = await self._client.get(path)
        except httpx.HTTPError:
            raise CollectorError from None
        if answer.status_code == 404:
            return None
        if answer.status_code != 200 or len(answer.content) > _MOST_BYTES:
            raise CollectorError(answer.status_code)
        with _documented():
            return read_object(_WHAT, answer.content)


@contextmanager
def _documented() -> Iterator[None]:
    """Refuse an answer that came but does not read as documented, such as a proxy's page."""
    try:
        yield
    except (InputError, KeyError, TypeError, ValueError):
        raise CollectorError(200) from None
