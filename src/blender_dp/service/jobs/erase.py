"""Destroys keys and what storage still holds of deleted rows."""

import asyncio

from blender_dp.service.campaign import Campaign, State
from blender_dp.service.dependencies import Parts
from blender_dp.service.keys.key_vault import Purpose
from blender_dp.service.storage.store import Finished

_ENDED = frozenset({State.CLIENTS_SEALED, State.RELEASED, State.PURGED})
"""No report is taken any more: the key of their tags has no use."""


async def erase(parts: Parts, campaign: Campaign) -> Finished:
    """Destroy the campaign's keys that nothing needs any more, then scrub the storage."""
    await asyncio.to_thread(_destroy, parts, campaign)
    await parts.store.scrub(campaign.id)
    return Finished(move=None, documents={}, log_entries=[], counter_sizes={})


def _destroy(parts: Parts, campaign: Campaign) -> None:
    parts.keys.destroy(campaign.id, Purpose.RECORDS, Purpose.RECORD_TAGS)
    if campaign.state in _ENDED:
        parts.keys.destroy(campaign.id, Purpose.REPORT_TAGS)
