"""Erasure job: destroys keys and the remains of deleted rows in storage."""

import asyncio

from blender_dp.service.campaign import Campaign, State
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.keys.key_vault import Purpose
from blender_dp.service.storage.store import JobResult

_ENDED = frozenset({State.CLIENTS_SEALED, State.RELEASED, State.PURGED})
"""States in which no report is accepted: the key of the reports' tags is not needed any more."""


async def erase(dependencies: Dependencies, campaign: Campaign) -> JobResult:
    """Destroy the campaign's keys that nothing needs any more, then scrub the storage.

    Rows are deleted even if the keys cannot be destroyed; the job then fails and is repeated.
    """
    try:
        await asyncio.to_thread(_destroy, dependencies, campaign)
    finally:
        await dependencies.store.scrub(campaign.id)
    return JobResult(move=None, documents={}, log_entries=[], counter_sizes={})


def _destroy(dependencies: Dependencies, campaign: Campaign) -> None:
    dependencies.keys.destroy(campaign.id, Purpose.RECORDS, Purpose.RECORD_TAGS)
    if campaign.state in _ENDED:
        dependencies.keys.destroy(campaign.id, Purpose.REPORT_TAGS)
