"""Forwarding of sealed campaigns: shuffled once, sent in pieces, then deleted.

Every step is stored before the next one begins, and can be repeated: a relay that is killed goes on
where it was, with the same batch in the same order.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from blender_dp.core.errors import BlenderError
from blender_dp.relay.announcements import Announcements
from blender_dp.relay.collector import CollectedBatch, CollectedState
from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.open_campaigns import OpenCampaigns
from blender_dp.relay.shuffle import KEY_BYTES, shuffled
from blender_dp.relay.storage.store import Batch, BatchState
from blender_dp.server.collector import OVER, SEALED, CollectorError
from blender_dp.wire.relayed.batch import (
    Destroyed,
    Forwarded,
    piece_document,
    statement_document,
)

_FINAL = (409, 410, 422)
"""Answers to a statement after which it is not sent again."""


class Forwarder:
    """Looks at the collector again and again, and does what is due for every campaign."""

    def __init__(
        self,
        dependencies: Dependencies,
        campaigns: OpenCampaigns,
        forget: Callable[[int], None],
    ) -> None:
        """Keep what it works with.

        Args:
            dependencies: Of the relay.
            campaigns: Told whatever the collector says about a campaign.
            forget: Called with the number of a campaign whose reports are deleted.
        """
        self._parts, self._campaigns, self._forget = dependencies, campaigns, forget
        self._store, self._collector = dependencies.store, dependencies.collector
        self._announcements = Announcements(dependencies, campaigns)
        self._event_log = dependencies.event_log
        self.is_collector_reachable = True

    async def run(self, seconds: float) -> None:
        """Tick for ever, with pauses of some seconds."""
        while True:
            try:
                await self.tick()
            except Exception as error:  # noqa: BLE001 - the next tick tries again
                self._event_log.failure("forwarding", error)
            await asyncio.sleep(seconds)

    async def tick(self) -> None:
        """Do what is due for every campaign; a failure of one does not stop the others."""
        try:
            await self._announcements.read()
            self.is_collector_reachable = True
        except CollectorError as error:
            self._note_failure(error)
        for batch in await self._store.batches():
            if batch.is_over:
                continue
            try:
                await self._proceed(batch)
            except CollectorError as error:
                self._note_failure(error)
            except BlenderError as error:
                self._event_log.failure("forwarding", error)

    def _note_failure(self, error: CollectorError) -> None:
        self.is_collector_reachable = error.status is not None
        self._event_log.write("collector-failed", status=error.status)

    async def _proceed(self, batch: Batch) -> None:
        if batch.state is BatchState.WAITING:
            state = await self._collector.state(batch.campaign)
            self.is_collector_reachable = True
            self._campaigns.note(batch, state or "")
            if state == SEALED:
                await self._decide(batch)
            elif state in OVER:  # the collector waited for no batch
                await self._destroy(batch)
        elif batch.state is BatchState.FORWARDING:
            await self._forward(batch)
        else:
            await self._conclude(batch)

    async def _decide(self, batch: Batch) -> None:
        """Forward a batch that is large enough; destroy any other."""
        if await self._store.begin_forwarding(batch, self._parts.random_bytes(KEY_BYTES)):
            await self._forward(await self._again(batch))
        else:  # as it was counted: if reports came meanwhile, the next tick decides anew
            await self._destroy(batch)

    async def _forward(self, batch: Batch) -> None:
        collected = await self._collector.batch(batch.campaign)
        if collected.state in (CollectedState.ABSENT, CollectedState.DESTROYED):
            await self._destroy(batch)
            return
        reports = await self._store.reports(batch)
        if len(reports) < batch.least_batch:  # some were stored twice
            await self._destroy(replace(batch, count=len(reports)))
            return
        order = await asyncio.to_thread(shuffled, reports, await self._store.order_key(batch))
        if batch.statement is None:
            signed = await asyncio.to_thread(self._statement, batch, order)
            await self._store.put_statement(batch, json.dumps(signed), len(order))
            batch = await self._again(batch)
        else:  # a process that was killed stated it, and may have sent pieces
            signed = json.loads(batch.statement)
        if collected.is_another_than(signed["statement"]):  # of a second relay with the same key
            await self._destroy(batch)
        elif await self._is_sent(batch, collected, signed, order):
            await self._finish(batch, BatchState.FORWARDED, signed)

    async def _is_sent(
        self,
        batch: Batch,
        collected: CollectedBatch,
        signed: Mapping[str, Any],
        order: Sequence[bytes],
    ) -> bool:
        """Send the pieces that the collector does not have; tell whether it has all of them."""
        if collected.state is not CollectedState.WAITING:
            return True
        pieces, is_complete = signed["statement"]["pieces"], False
        size = -(-len(order) // pieces)
        for piece in range(pieces):
            # The last piece is sent again if all are there but were not found complete.
            if piece in collected.pieces and piece < pieces - 1:
                continue
            own = order[piece * size : (piece + 1) * size]
            document = await asyncio.to_thread(_encode, piece_document(signed, piece, own))
            is_complete = await self._collector.send(batch.campaign, document)
        return is_complete

    def _statement(self, batch: Batch, order: Sequence[bytes]) -> dict[str, Any]:
        digest = hashlib.sha256()
        for report in order:
            digest.update(report)
        size = -(-len(order) // -(-len(order) // self._parts.piece_size))  # pieces of equal size
        statement = Forwarded(
            campaign=batch.campaign,
            head_list=batch.head_list,
            count=len(order),
            pieces=-(-len(order) // size),
            digest=f"sha256:{digest.hexdigest()}",
        )
        return statement_document(statement, self._parts.key)

    async def _destroy(self, batch: Batch) -> None:
        statement = Destroyed(campaign=batch.campaign, head_list=batch.head_list, count=batch.count)
        signed = statement_document(statement, self._parts.key)
        await self._finish(batch, BatchState.DESTROYED, signed)

    async def _finish(self, batch: Batch, state: BatchState, signed: Mapping[str, Any]) -> None:
        if not await self._store.finish(batch, state, json.dumps(signed)):
            return  # a report came meanwhile; the next tick decides anew
        self._forget(batch.number)
        self._parts.metrics.count_ended(state.value, batch.count)
        self._event_log.write(f"batch-{state}", reports=batch.count)
        await self._conclude(await self._again(batch))

    async def _conclude(self, batch: Batch) -> None:
        """Overwrite what was deleted, and tell the collector what was destroyed."""
        if not batch.is_scrubbed:
            await self._store.scrub(batch)
        if not batch.is_told:
            assert batch.statement is not None  # stored with the end of the batch
            await self._tell(batch, batch.statement)

    async def _tell(self, batch: Batch, statement: str) -> None:
        try:
            await self._collector.send(batch.campaign, statement.encode())
        except CollectorError as error:
            if error.status not in _FINAL:
                raise
            # The campaign is over. The relay still shows its statement.
            self._event_log.write("statement-refused", status=error.status)
        await self._store.note_told(batch)

    async def _again(self, batch: Batch) -> Batch:
        found = await self._store.batch(batch.campaign)
        assert found is not None  # campaigns are never deleted
        return found


def _encode(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
