"""Ticker: makes the moves that campaigns' rules require, and stores counts of refusals."""

import asyncio
from collections.abc import Sequence

from blender_dp.service.campaign import Campaign, Rules, State
from blender_dp.service.state import ServiceState
from blender_dp.service.storage.store import Reason, StoreRefusal

ACTOR = "rules"
"""Actor in the audit log of moves that a rule makes."""
_PAUSE = 1.0
_PAGE = 500
_MOVING = frozenset({State.OPT_IN_OPEN, State.LIST_PUBLISHED, State.CLIENTS_OPEN})
_NO_RULES = Rules()


class Ticker:
    """Checks every campaign once per second."""

    def __init__(self, service: ServiceState, *, applies_rules: bool = True) -> None:
        self._service, self._applies_rules = service, applies_rules

    async def run(self) -> None:
        """Tick until cancelled."""
        while True:
            await asyncio.sleep(_PAUSE)
            try:
                await self.tick()
            except Exception as error:  # noqa: BLE001 - the next tick tries again
                self._service.event_log.failure("ticker", error)

    async def tick(self) -> None:
        """Make the moves that are due and store the counts of refusals."""
        await self.flush()
        if self._applies_rules:
            for campaign in await self._moving():
                await self._move_if_due(campaign)

    async def flush(self) -> None:
        """Count refused requests in the store."""
        waiting = self._service.refusals
        while waiting:
            campaign_id, refused = waiting.popitem()
            try:
                await self._service.dependencies.store.add_refusals(campaign_id, refused)
            except StoreRefusal:
                for slug, count in refused.items():
                    self._service.count_refusal(campaign_id, slug, count)
                return  # the next tick tries again

    async def _moving(self) -> Sequence[Campaign]:
        found: list[Campaign] = []
        after = None
        while page := await self._service.dependencies.store.campaigns(after=after, limit=_PAGE):
            found += [one for one in page if one.state in _MOVING and one.rules != _NO_RULES]
            after = page[-1].id
        return found

    async def _move_if_due(self, campaign: Campaign) -> None:
        store, now = self._service.dependencies.store, self._service.dependencies.now()
        progress = await store.progress(campaign.id)
        move = campaign.due(
            contributions=progress.contributed,
            reports=progress.record_reports + progress.query_reports,
            now=now,
        )
        if move is None:
            return
        try:
            await store.move(campaign.id, move, origin=campaign.state, actor=ACTOR, now=now)
        except StoreRefusal as refusal:
            if refusal.reason is not Reason.MOVE_NOT_ALLOWED:  # another process moved it first
                raise
