"""Erasure job: destroys keys and the remains of deleted rows in storage."""

import asyncio

from blender_dp.service.campaign import Campaign, State
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs.failures import is_release_over
from blender_dp.service.keys.key_vault import Purpose
from blender_dp.service.storage.store import JobResult

_ENDED = frozenset({State.CLIENTS_SEALED, State.RELEASED, State.PURGED})
"""States in which no report is accepted: the keys of their tags and tokens are not needed."""


async def erase(dependencies: Dependencies, campaign: Campaign) -> JobResult:
    """Destroy the campaign's keys that nothing needs any more, then scrub the storage.

    Rows are deleted even if the keys cannot be destroyed; the job then fails and is repeated.
    """
    jobs = (await dependencies.store.progress(campaign.id)).jobs
    try:
        await asyncio.to_thread(
            _destroy, dependencies, campaign, is_released=is_release_over(campaign.state, jobs)
        )
    finally:
        await dependencies.store.scrub(campaign.id)
    return JobResult(move=None, documents={}, log_entries=[], counter_sizes={})


def _destroy(dependencies: Dependencies, campaign: Campaign, *, is_released: bool) -> None:
    dependencies.keys.destroy(campaign.id, Purpose.RECORDS, Purpose.RECORD_TAGS)
    if campaign.state in _ENDED:
        dependencies.keys.destroy(campaign.id, Purpose.REPORT_TAGS, Purpose.REPORT_TOKENS)
    if is_released:
        dependencies.keys.destroy(campaign.id, Purpose.RELAYED_REPORTS)
