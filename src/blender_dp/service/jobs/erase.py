"""Erasure job: destroys keys and the remains of deleted rows in storage."""

import asyncio
from collections.abc import Sequence

from blender_dp.service.campaign import Campaign, JobKind, State
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs.failures import PASSING
from blender_dp.service.jobs.leases import Job
from blender_dp.service.keys.key_vault import Purpose
from blender_dp.service.storage.store import JobResult

_ENDED = frozenset({State.CLIENTS_SEALED, State.RELEASED, State.PURGED})
"""States in which no report is accepted: the key of the reports' tags is not needed any more."""


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


def is_release_over(state: State, jobs: Sequence[Job]) -> bool:
    """Tell whether nothing can be released any more: relayed reports are not needed then.

    While a release waits for the relay, an erasure that was put off may still run.
    """
    if state is not State.CLIENTS_SEALED:
        return state in _ENDED
    last = next((job for job in reversed(jobs) if job.kind is JobKind.RELEASE), None)
    return last is not None and last.failure is not None and last.failure not in PASSING


def _destroy(dependencies: Dependencies, campaign: Campaign, *, is_released: bool) -> None:
    dependencies.keys.destroy(campaign.id, Purpose.RECORDS, Purpose.RECORD_TAGS)
    if campaign.state in _ENDED:
        dependencies.keys.destroy(campaign.id, Purpose.REPORT_TAGS)
    if is_released:
        dependencies.keys.destroy(campaign.id, Purpose.RELAYED_REPORTS)
