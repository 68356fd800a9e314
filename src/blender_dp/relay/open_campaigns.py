"""Campaigns that take reports at the moment, as the collector says.

A campaign is looked up at the collector when it is announced or when its first report comes, and
again at every tick. Its signed head list must be that of the expected collector and name this
relay.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from blender_dp.core.errors import BlenderError
from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.intake import RelayIntake
from blender_dp.relay.storage.store import Batch, BatchState
from blender_dp.server.campaign_lookups import MOST_REFUSED, CampaignLookups
from blender_dp.server.collector import NOT_YET_OPEN, OPEN, PUBLISHED
from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError
from blender_dp.wire.relayed.encrypted_report import ReportEncryption
from blender_dp.wire.service.signed_head_list import SignedHeadList, read_signed_head_list


class ListFault(StrEnum):
    """Why no report of a campaign is taken though devices send some; a closed list."""

    NOT_UNDERSTOOD = "list-not-understood"
    ANOTHER_RELAY = "another-relay-key"
    """The list names no relay, or one with another key than this one has."""
    ANOTHER_COLLECTOR = "another-collector-key"
    """The list is not signed by the expected collector."""
    ANOTHER_LIST = "another-list"
    """The collector showed another list or another encryption key before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCampaign:
    """A campaign that takes reports."""

    number: int
    intake: RelayIntake


class OpenCampaigns:
    """Campaigns that take reports; belongs to one event loop."""

    def __init__(
        self, dependencies: Dependencies, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._parts = dependencies
        self._store, self._collector = dependencies.store, dependencies.collector
        self._lookups = CampaignLookups(self._opened, clock)
        self._said: set[UUID] = set()

    def known(self, campaign: UUID) -> OpenCampaign | None:
        """Return a campaign if it is known to be open."""
        return self._lookups.known(campaign)

    async def find(self, campaign: UUID) -> OpenCampaign:
        """Return an open campaign, looked up at the collector if needed, or refuse."""
        return await self._lookups.find(campaign)

    async def learn(self, campaign: UUID) -> None:
        """Store a campaign of this relay before its first report, unless it is sealed already.

        A relay that knew nothing of a sealed campaign says nothing of it: its reports may be on
        another disk.
        """
        if await self._collector.state(campaign) not in (PUBLISHED, OPEN):
            return
        document = await self._collector.head_list(campaign)
        if document is not None and _names_relay(document, self._parts.public_key):
            with suppress(ProblemError):
                await self._added(campaign, await self._checked_list(campaign, document))

    def note(self, batch: Batch, state: str) -> None:
        """Take over what the collector said of a campaign."""
        if state == OPEN and batch.state is BatchState.WAITING:
            self._lookups.note_open(batch.campaign)
        else:
            self._lookups.forget(batch.campaign)

    async def _opened(self, campaign: UUID) -> OpenCampaign:
        state = await self._collector.state(campaign)
        if state is None:
            raise Problem.UNKNOWN_CAMPAIGN.error()
        if state in NOT_YET_OPEN:
            # A device sends only when the collector says "open": this answer may be some seconds
            # old. A refusal would be final for that device.
            raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS)
        if state != OPEN:
            raise Problem.NOT_COLLECTING.error()
        batch = await self._added(campaign, await self._signed_list(campaign))
        if batch.state is not BatchState.WAITING:
            raise Problem.NOT_COLLECTING.error()
        intake = RelayIntake(batch.head_list, batch.encryption_key, batch.report_length)
        return OpenCampaign(number=batch.number, intake=intake)

    async def _added(self, campaign: UUID, signed: SignedHeadList) -> Batch:
        """Return what is stored of a campaign, from now on at least."""
        relay, listed = signed.head_list.relay, signed.relay
        assert relay is not None  # a list that names a relay has its mechanism
        assert listed is not None  # required by _signed_list
        encryption = ReportEncryption(signed.head_list, campaign=campaign, digest=signed.digest)
        batch = await self._store.add_campaign(
            campaign,
            head_list=signed.digest,
            encryption_key=listed.encryption_key,
            report_length=encryption.length,
            least_batch=relay.least_batch,
        )
        named = (signed.digest, listed.encryption_key)
        if (batch.head_list, batch.encryption_key) != named:  # a campaign has one list and one key
            raise self._refused_list(campaign, ListFault.ANOTHER_LIST)
        return batch

    async def _signed_list(self, campaign: UUID) -> SignedHeadList:
        """Return the list, or refuse a campaign whose list is not for this relay."""
        document = await self._collector.head_list(campaign)
        if document is None:
            raise Problem.NOT_COLLECTING.error()
        return await self._checked_list(campaign, document)

    async def _checked_list(self, campaign: UUID, document: Mapping[str, Any]) -> SignedHeadList:
        try:
            signed = read_signed_head_list(document)
        except BlenderError:
            raise self._refused_list(campaign, ListFault.NOT_UNDERSTOOD) from None
        if signed.campaign != campaign:
            raise self._refused_list(campaign, ListFault.NOT_UNDERSTOOD)
        if signed.relay is None or signed.relay.public_key != self._parts.public_key:
            raise self._refused_list(campaign, ListFault.ANOTHER_RELAY)
        expected = self._parts.collector_key or await self._store.bind_collector(signed.public_key)
        if signed.public_key != expected:
            raise self._refused_list(campaign, ListFault.ANOTHER_COLLECTOR)
        return signed

    def _refused_list(self, campaign: UUID, fault: ListFault) -> ProblemError:
        """Say once why no report of a campaign is taken; return what devices are told."""
        if campaign not in self._said and len(self._said) < MOST_REFUSED:
            self._said.add(campaign)
            self._parts.event_log.write(
                "list-refused", reason=fault, campaign=str(campaign), own_key=self._parts.public_key
            )
        self._parts.metrics.count_refused_list(fault)
        return Problem.UNKNOWN_CAMPAIGN.error()


def _names_relay(document: Mapping[str, Any], public_key: str) -> bool:
    """Tell whether a list, not yet checked, is meant for this relay."""
    relay = document.get("relay")
    return isinstance(relay, dict) and relay.get("public_key") == public_key
