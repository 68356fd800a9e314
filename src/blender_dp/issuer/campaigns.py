"""Campaigns for which the issuer signs: bound to one key each, and forgotten when they end.

A campaign's signed head list must be that of the expected collector and name a key of this issuer.
"""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from blender_dp.core.errors import BlenderError
from blender_dp.issuer.campaign_keys import CampaignKey
from blender_dp.issuer.dependencies import Dependencies
from blender_dp.issuer.storage.store import IssuingCampaign
from blender_dp.server.campaign_lookups import MOST_REFUSED, CampaignLookups
from blender_dp.server.collector import (
    NOT_YET_OPEN,
    OPEN,
    OVER,
    PUBLISHED,
    SEALED,
    CollectorError,
)
from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError
from blender_dp.wire.service.signed_head_list import SignedHeadList, read_signed_head_list


class ListFault(StrEnum):
    """Why nothing is signed for a campaign; a closed list."""

    NOT_UNDERSTOOD = "list-not-understood"
    ANOTHER_COLLECTOR = "another-collector-key"
    """The list is not signed by the expected collector."""
    ANOTHER_KEY = "another-token-key"
    """The list names no key, or none that is for this campaign or for the next one."""
    OLD_DATABASE = "old-database"
    """The database forgot people who got a token: it was restored from a backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCampaign:
    """A campaign whose people get tokens."""

    number: int
    key: CampaignKey


class Campaigns:
    """Campaigns of this issuer; belongs to one event loop."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._parts = dependencies
        self._store, self._collector = dependencies.store, dependencies.collector
        self._lookups = CampaignLookups(self._opened)
        self._binding = asyncio.Lock()
        self._said: set[UUID] = set()
        self.is_collector_reachable = True

    async def find(self, campaign: UUID) -> OpenCampaign:
        """Return a campaign whose people get tokens now, or refuse."""
        return await self._lookups.find(campaign)

    async def run(self, seconds: float) -> None:
        """Tick for ever, with pauses of some seconds."""
        while True:
            try:
                await self.tick()
            except Exception as error:  # noqa: BLE001 - the next tick tries again
                self._parts.event_log.failure("campaigns", error)
            await asyncio.sleep(seconds)

    async def tick(self) -> None:
        """End every campaign that the collector closed; a failure does not stop the others."""
        for kept in await self._store.unfinished():
            try:
                await self._proceed(kept)
                self.is_collector_reachable = True
            except CollectorError as error:
                self.is_collector_reachable = error.status is not None
                self._parts.event_log.write("collector-failed", status=error.status)
            except BlenderError as error:
                self._parts.event_log.failure("campaigns", error)

    async def _proceed(self, kept: IssuingCampaign) -> None:
        if not kept.is_ended:
            state = await self._collector.state(kept.campaign)
            if state != SEALED and state not in OVER:
                return
            await self._store.end(kept.number)
        self._lookups.forget(kept.campaign)
        self._parts.keys.destroy(kept.campaign)
        await self._store.scrub(kept.number)

    async def _opened(self, campaign: UUID) -> OpenCampaign:
        state = await self._collector.state(campaign)
        self.is_collector_reachable = True
        if state is None:
            raise Problem.UNKNOWN_CAMPAIGN.error()
        if state in NOT_YET_OPEN and state != PUBLISHED:
            raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS)
        if state not in (PUBLISHED, OPEN):
            raise Problem.NOT_COLLECTING.error()
        signed = await self._signed_list(campaign)
        async with self._binding:  # one campaign gets the next key
            return await self._bound(campaign, signed.head_list.token_key)

    async def _signed_list(self, campaign: UUID) -> SignedHeadList:
        document = await self._collector.head_list(campaign)
        if document is None:
            raise Problem.NOT_COLLECTING.error()
        try:
            signed = read_signed_head_list(document)
        except BlenderError:
            raise self._refused(campaign, ListFault.NOT_UNDERSTOOD) from None
        if signed.campaign != campaign:
            raise self._refused(campaign, ListFault.NOT_UNDERSTOOD)
        expected = self._parts.collector_key or await self._store.bind_collector(signed.public_key)
        if signed.public_key != expected:
            raise self._refused(campaign, ListFault.ANOTHER_COLLECTOR)
        return signed

    async def _bound(self, campaign: UUID, token_key: str | None) -> OpenCampaign:
        """Return the campaign with its key, which is bound to it now if it is the next one."""
        keys, key = self._parts.keys, self._parts.keys.key_of(campaign)
        if token_key != (key or keys.next_key()).token_key.text:
            raise self._refused(campaign, ListFault.ANOTHER_KEY)
        if key is None:
            # First the database: a key that is bound without an entry means that it was restored.
            await self._store.add_campaign(campaign)
            key = keys.bind_next(campaign)
        kept = await self._store.campaign(campaign)
        if kept is None or kept.issued < keys.counted(campaign):
            raise self._refused(campaign, ListFault.OLD_DATABASE)
        if kept.is_ended:
            raise Problem.NOT_COLLECTING.error()
        return OpenCampaign(number=kept.number, key=key)

    def _refused(self, campaign: UUID, fault: ListFault) -> ProblemError:
        """Say once why nothing is signed for a campaign; return what devices are told."""
        if campaign not in self._said and len(self._said) < MOST_REFUSED:
            self._said.add(campaign)
            self._parts.event_log.write("list-refused", reason=fault, campaign=str(campaign))
        self._parts.metrics.count_refused_list(fault)
        return Problem.NO_REPORT_TOKENS.error()
