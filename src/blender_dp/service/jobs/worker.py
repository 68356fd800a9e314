"""Worker: runs jobs one at a time, each under a lease, so that each is finished exactly once."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic

from blender_dp.server.event_log import EventLog
from blender_dp.service.campaign import Campaign, JobKind
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs.erase import erase
from blender_dp.service.jobs.failures import Failure, JobError, NotYetError
from blender_dp.service.jobs.head_list import make_head_list
from blender_dp.service.jobs.leases import Lease, LeaseWatch, PostponedJobs
from blender_dp.service.jobs.release import make_release
from blender_dp.service.storage.store import JobResult, Reason, StoreRefusal

LEASE = timedelta(seconds=60)
"""Time without a renewal after which another worker takes the job over."""
MOST_ATTEMPTS = 5
"""Most attempts. Each counts from its start, so that one that kills its process counts too."""
_ENDED = frozenset({"done", "failed"})
"""Outcomes after which a job is not tried again, unless an operator retries it."""
_AWAITS = "awaits"
"""Outcome of an attempt that must wait for somebody outside the service."""
_PAUSE = 0.5
"""Seconds between two searches for work."""
_RUNNERS: dict[JobKind, Callable[[Dependencies, Campaign], Awaitable[JobResult]]] = {
    JobKind.HEAD_LIST: make_head_list,
    JobKind.RELEASE: make_release,
    JobKind.ERASE: erase,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One worker with a random name."""

    dependencies: Dependencies
    event_log: EventLog
    owner: str
    lease: timedelta = LEASE
    others: LeaseWatch = field(default_factory=lambda: LeaseWatch(monotonic))
    put_off: PostponedJobs = field(default_factory=lambda: PostponedJobs(monotonic))

    @classmethod
    def of(cls, dependencies: Dependencies, event_log: EventLog) -> "Worker":
        """Return a worker with a new name."""
        return cls(
            dependencies=dependencies, event_log=event_log, owner=dependencies.random_bytes(8).hex()
        )

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                is_busy = await self.run_one()
            except Exception as error:  # noqa: BLE001 - the job is tried again when its lease has run out
                self.event_log.failure("worker", error)
                is_busy = False
            if not is_busy:
                await asyncio.sleep(_PAUSE)

    async def run_all(self) -> bool:
        """Run the waiting jobs and those of dead workers; wait until all other holders renewed.

        Returns:
            Whether all of them ended; False if the store was too busy for some.
        """
        while True:
            if await self.run_one():
                continue
            if not self.others.are_undecided(self.owner):
                return not self.put_off.are_busy()
            await asyncio.sleep(_PAUSE)

    async def run_one(self) -> bool:
        """Run one job if there is one."""
        lease = await self._take_abandoned() or await self.dependencies.store.lease_job(
            self.owner, but=self.put_off.not_due()
        )
        if lease is None:
            return False
        if lease.job.attempts > MOST_ATTEMPTS:  # the processes died without a failure
            await self._run_leased(lease, self._give_up)
            return True
        renewing = asyncio.create_task(self._keep_renewing(lease))
        try:
            await self._run_leased(lease, self._outcome)
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
        return True

    async def _take_abandoned(self) -> Lease | None:
        """Take over a job whose holder did not renew it for the time of a lease."""
        store = self.dependencies.store
        self.others.look(await store.running_jobs())
        for running in self.others.not_renewed_for(self.lease.total_seconds()):
            if lease := await store.take_over(running, self.owner):
                return lease
        return None

    async def _give_up(self, lease: Lease) -> str:
        await self._fail(lease, Failure.PROCESS_DIED)
        return "failed"

    async def _run_leased(self, lease: Lease, run: Callable[[Lease], Awaitable[str]]) -> None:
        kind = lease.job.kind
        try:
            outcome = await run(lease)
        except StoreRefusal as refusal:
            if refusal.reason is not Reason.LEASE_LOST:
                raise
            outcome = "lost"
        if outcome in _ENDED:
            self.put_off.forget(lease.job.id)
            self.dependencies.metrics.count_job(kind, outcome)
        if outcome != _AWAITS:  # it may wait for days
            self.event_log.write("job", kind=str(kind), outcome=outcome)

    async def _outcome(self, lease: Lease) -> str:
        kind, store, now = lease.job.kind, self.dependencies.store, self.dependencies.now
        try:
            campaign = await store.campaign(lease.job.campaign)
            finished = await _RUNNERS[kind](self.dependencies, campaign)
            await store.finish(lease, finished, now=now())
        except JobError as error:
            await self._fail(lease, error.failure)
            return "failed"
        except NotYetError:
            await store.give_back(lease)
            self.put_off.await_others(lease.job.id)
            return _AWAITS
        except Exception as error:  # the message may quote data: only the type is kept
            if isinstance(error, StoreRefusal) and error.reason is Reason.LEASE_LOST:
                raise
            if isinstance(error, StoreRefusal) and error.reason is Reason.OVERLOADED:
                await store.give_back(lease)
                self.put_off.add(lease.job.id)
                return "put-off"
            self.event_log.failure(f"job {kind}", error)
            if lease.job.attempts >= MOST_ATTEMPTS:
                await self._fail(lease, Failure.GAVE_UP)
                return "failed"
            return "tried"
        return "done"

    async def _fail(self, lease: Lease, failure: Failure) -> None:
        """End a job without a result.

        Only the operator sees the reason, and no metric: it may depend on raw records.
        """
        await self.dependencies.store.fail(
            lease, failure, is_final=failure.is_final, now=self.dependencies.now()
        )
        self.event_log.write("job-failed", kind=str(lease.job.kind), failure=str(failure))

    async def _keep_renewing(self, lease: Lease) -> None:
        """Renew the lease while the job runs."""
        while True:
            await asyncio.sleep(self.lease.total_seconds() / 3)
            try:
                lease = await self.dependencies.store.renew(lease)
            except StoreRefusal as refusal:
                if refusal.reason is Reason.LEASE_LOST:
                    return  # finishing will say so
            except Exception as error:  # noqa: BLE001 - the next renewal may succeed
                self.event_log.failure("renewal", error)
