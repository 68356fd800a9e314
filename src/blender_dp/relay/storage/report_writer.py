"""Task that writes reports: all that wait in one transaction, then all requests are answered.

A transaction costs one wait for the disk, whatever its size. Requests that arrive during the wait
form the next transaction.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from blender_dp.relay.storage.bundles import put_bundle
from blender_dp.relay.storage.known_reports import KnownReports, digest_of
from blender_dp.relay.storage.store import all_reports, count_more, lock_waiting
from blender_dp.server.databases.database import Database, UnavailableError
from blender_dp.server.databases.statements import Statements
from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError

MOST_WAITING = 50_000
"""Most reports that wait: less than a second of work."""
MOST_TOGETHER = 20_000
"""Most reports in one transaction; bounds the wait of each request in the group."""
LINGER_SECONDS = 0.004
"""Batching delay after a group of several requests: raises throughput under load; a lone request
is not delayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Outcome of a request's reports."""

    accepted: int
    repeated: int


Outcome = Added | ProblemError


@dataclass(slots=True, eq=False)
class _Request:
    """Reports of one request, and the future that gets the answer."""

    campaign: int
    reports: Sequence[bytes]
    answer: "asyncio.Future[Added]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """Outcome of a transaction."""

    outcomes: Sequence[Outcome]
    new: Mapping[int, set[bytes]]
    """Digests of the reports that were not there before, by campaign."""


class ReportWriter:
    """The waiting reports of one process; belongs to one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[_Request] = deque()
        self._count = 0
        self._known: dict[int, KnownReports] = {}
        self._task: asyncio.Task[None] | None = None

    async def add(self, campaign: int, reports: Sequence[bytes]) -> Added:
        """Return the outcome of a request's reports once they are on disk."""
        if self._waiting and self._count + len(reports) > MOST_WAITING:
            raise _overloaded()
        request = _Request(campaign, reports)
        self._waiting.append(request)
        self._count += len(reports)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_all())
        return await request.answer

    def forget(self, campaign: int) -> None:
        """Give back the memory for the reports of a campaign."""
        self._known.pop(campaign, None)

    async def close(self) -> None:
        """Write all that waits."""
        if self._task is not None:
            await self._task

    async def _write_all(self) -> None:
        while group := self._take():
            for request, outcome in zip(group, await self._outcomes(group), strict=True):
                if request.answer.done():  # the client left; its reports are on disk nevertheless
                    continue
                if isinstance(outcome, Added):
                    request.answer.set_result(outcome)
                else:
                    request.answer.set_exception(outcome)
            if len(group) > 1:
                await asyncio.sleep(LINGER_SECONDS)

    async def _outcomes(self, group: Sequence[_Request]) -> Sequence[Added | Exception]:
        campaigns = sorted({request.campaign for request in group})
        try:
            known = {campaign: await self._known_of(campaign) for campaign in campaigns}
            written = await self._database.write(partial(_add, group=group, known=known))
        except Exception as error:  # noqa: BLE001 - passed on to the waiting requests
            for campaign in campaigns:  # nobody knows whether it was written: look there again
                self.forget(campaign)
            is_unavailable = isinstance(error, UnavailableError)
            return [_overloaded() if is_unavailable else error for _ in group]
        for campaign, digests in written.new.items():
            known[campaign].add(digests)
            if known[campaign].is_unsettled:
                await asyncio.to_thread(known[campaign].settle)
        return written.outcomes

    async def _known_of(self, campaign: int) -> KnownReports:
        """Return the known reports of a campaign, read from the database at first."""
        if campaign not in self._known:
            reports = await self._database.read(partial(all_reports, number=campaign))
            self._known[campaign] = await asyncio.to_thread(KnownReports.of, reports)
        return self._known[campaign]

    def _take(self) -> Sequence[_Request]:
        """Return the oldest requests that may be written together, or none."""
        taken: list[_Request] = []
        count = 0
        while self._waiting and (
            not taken or count + len(self._waiting[0].reports) <= MOST_TOGETHER
        ):
            count += len(self._waiting[0].reports)
            taken.append(self._waiting.popleft())
        self._count -= count
        return taken


def _overloaded() -> ProblemError:
    return Problem.OVERLOADED.error(retry_after=RETRY_SECONDS)


async def _add(
    tx: Statements, group: Sequence[_Request], known: Mapping[int, KnownReports]
) -> _Written:
    """Store the reports of several requests; one ciphertext counts once."""
    digests = [[digest_of(one) for one in request.reports] for request in group]
    new: dict[int, set[bytes]] = {}
    for campaign, its in known.items():
        if await lock_waiting(tx, campaign):
            given = {
                digest: one
                for request, own in zip(group, digests, strict=True)
                if request.campaign == campaign
                for digest, one in zip(own, request.reports, strict=True)
            }
            new[campaign] = its.unknown(given)
            if new[campaign]:
                await put_bundle(tx, campaign, [given[digest] for digest in new[campaign]])
                await count_more(tx, campaign, len(new[campaign]))
    left = {campaign: set(digests) for campaign, digests in new.items()}
    outcomes = [
        _outcome(own, left.get(request.campaign))
        for request, own in zip(group, digests, strict=True)
    ]
    return _Written(outcomes=outcomes, new=new)


def _outcome(digests: Sequence[bytes], left: set[bytes] | None) -> Outcome:
    """Attribute each new report to the first request that has it."""
    if left is None:
        return Problem.NOT_COLLECTING.error()
    own = left.intersection(digests)
    left -= own
    return Added(accepted=len(own), repeated=len(digests) - len(own))
