"""Groups of requests with reports: checked together, stored in one transaction, then answered.

What checking and storing cost apart from each report is paid once per group. Requests that arrive
while a group is stored form the next one. A refused request does not affect the others.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

from blender_dp.server.event_log import EventLog
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports, Outcome
from blender_dp.service.http.reports.intake import ReportIntake
from blender_dp.service.operation.metrics import Metrics
from blender_dp.service.storage.database_store import DatabaseStore

MOST_TOGETHER = 256
"""Most bodies that are checked together; bounds the time in which the loop does nothing else."""
LINGER_SECONDS = 0.004
"""Longest wait, after a group of several, until as many come again: more of them then share a
transaction. A lone request is not delayed."""


class _Waiting(NamedTuple):
    """A body, and what is called with its outcome."""

    body: bytes
    answer: Callable[[Outcome], None]


class _Group:
    """Requests to one campaign that wait while others are stored."""

    def __init__(self) -> None:
        self.waiting: list[_Waiting] = []
        self._wanted = 0
        self._is_full: asyncio.Future[None] | None = None

    def add(self, request: _Waiting) -> None:
        """Add a request; end the wait for as many as are wanted."""
        self.waiting.append(request)
        if self._is_full is not None and len(self.waiting) >= self._wanted:
            _wake(self._is_full)

    def take(self) -> Sequence[_Waiting]:
        """Return the oldest requests."""
        taken, self.waiting = self.waiting[:MOST_TOGETHER], self.waiting[MOST_TOGETHER:]
        return taken

    async def fill(self, count: int) -> None:
        """Wait a moment until this many requests wait."""
        if len(self.waiting) >= count:
            return
        loop = asyncio.get_running_loop()
        self._wanted, self._is_full = count, loop.create_future()
        timer = loop.call_later(LINGER_SECONDS, _wake, self._is_full)
        await self._is_full
        timer.cancel()
        self._is_full = None


class ReportGroups:
    """The groups of all campaigns; belongs to one event loop."""

    def __init__(self, store: DatabaseStore, metrics: Metrics, event_log: EventLog) -> None:
        self._store, self._metrics, self._event_log = store, metrics, event_log
        self._groups: dict[str, _Group] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(
        self,
        campaign_id: str,
        intake: ReportIntake,
        body: bytes,
        answer: Callable[[Outcome], None],
    ) -> None:
        """Check and store a body with others; then call ``answer`` with what became of it."""
        group = self._groups.get(campaign_id)
        if group is None:
            group = self._groups[campaign_id] = _Group()
            task = asyncio.get_running_loop().create_task(self._work(campaign_id, intake, group))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        group.add(_Waiting(body, answer))

    async def outcome(self, campaign_id: str, intake: ReportIntake, body: bytes) -> Outcome:
        """Check and store a body with others; return what became of it."""
        answer = asyncio.get_running_loop().create_future()

        def settle(outcome: Outcome) -> None:
            if not answer.done():  # the client left; its reports are on disk nevertheless
                answer.set_result(outcome)

        self.add(campaign_id, intake, body, settle)
        outcome: Outcome = await answer
        return outcome

    async def add_alone(self, campaign_id: str, reports: CheckedReports) -> Added:
        """Store the reports of a request that was checked elsewhere."""
        added = await self._store.add_reports(UUID(campaign_id), reports)
        self._metrics.accepted.inc(added.accepted)
        self._metrics.repeated.inc(added.repeated)
        return added

    async def _work(self, campaign_id: str, intake: ReportIntake, group: _Group) -> None:
        try:
            while group.waiting:
                requests = group.take()
                outcomes = await self._outcomes(campaign_id, intake, [one.body for one in requests])
                self._answer(requests, outcomes)
                if len(requests) > 1:
                    await group.fill(min(len(requests) + len(group.waiting), MOST_TOGETHER))
        finally:
            del self._groups[campaign_id]

    def _answer(self, requests: Sequence[_Waiting], outcomes: Sequence[Outcome]) -> None:
        for request, outcome in zip(requests, outcomes, strict=True):
            try:
                request.answer(outcome)
            except Exception as error:  # noqa: BLE001 - the others must be answered
                self._event_log.failure("answer", error)
        added = [outcome for outcome in outcomes if isinstance(outcome, Added)]
        self._metrics.accepted.inc(sum([one.accepted for one in added]))
        self._metrics.repeated.inc(sum([one.repeated for one in added]))

    async def _outcomes(
        self, campaign_id: str, intake: ReportIntake, bodies: Sequence[bytes]
    ) -> Sequence[Outcome]:
        try:
            checked = intake.check_each(bodies)
        except Exception as error:  # noqa: BLE001 - each is told
            return [error] * len(bodies)
        batches = [one for one in checked.others.values() if isinstance(one, CheckedReports)]
        others = asyncio.gather(*(self._stored(campaign_id, one) for one in batches))
        each = iter(await self._stored(campaign_id, checked.singles))
        of_batches = iter(await others)
        outcomes: list[Outcome] = []
        for at in range(len(bodies)):
            found = checked.others.get(at)
            if found is None:
                outcomes.append(next(each))
            elif isinstance(found, CheckedReports):
                outcomes += next(of_batches)
            else:
                outcomes.append(found)
        return outcomes

    async def _stored(self, campaign_id: str, reports: CheckedReports) -> Sequence[Outcome]:
        """Return the outcome of a batch, or of each single report."""
        count = len(reports) if reports.are_singles else 1
        try:
            if not count:
                return []
            if reports.are_singles:
                return await self._store.add_singles(UUID(campaign_id), reports)
            return [await self._store.add_reports(UUID(campaign_id), reports)]
        except Exception as error:  # noqa: BLE001 - each is told
            return [error] * count


def _wake(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
