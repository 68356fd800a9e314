"""Announcements of campaigns: the head lists in the collector's public log.

A relay that reads them knows a campaign before its first report. If none comes, it can say so when
the campaign is sealed, and the collector need not wait for a batch.
"""

from uuid import UUID

from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.open_campaigns import OpenCampaigns


class Announcements:
    """Reads the collector's log onwards."""

    def __init__(self, dependencies: Dependencies, campaigns: OpenCampaigns) -> None:
        self._store, self._collector = dependencies.store, dependencies.collector
        self._campaigns = campaigns
        self._read = 0
        """Entries of the log that were read."""

    async def read(self) -> None:
        """Take over the campaigns of this relay that were announced since the last time."""
        announced = await self._collector.announced(self._read)
        if announced is None:  # another log, shorter than what was read
            self._read = 0
            return
        for campaign in announced:
            if campaign is not None:
                await self._take_over(campaign)
            self._read += 1  # not before: what fails is read again

    async def _take_over(self, campaign: UUID) -> None:
        if await self._store.batch(campaign) is None:
            await self._campaigns.learn(campaign)
