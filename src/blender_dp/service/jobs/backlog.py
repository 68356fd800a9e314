"""Bounded queue of requests that wait to be written; when it is full, new ones are refused."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import UUID

from blender_dp.service.http.reports.checked_reports import CheckedReports
from blender_dp.service.storage.store import Reason, StoreRefusal

MOST_WAITING = 50_000
"""Most reports that wait: some seconds of work for either database."""
MOST_TOGETHER = 20_000
"""Most reports in one transaction; bounds the wait of each request in the group."""

LINGER_SECONDS = 0.004
"""Batching delay after a group of several requests: raises throughput under load; a lone request
is not delayed."""


@dataclass(slots=True, eq=False)
class Request:
    """Something to be written, and the future that gets the answer."""

    work: Any
    """Function to run in the transaction; None for reports."""
    campaign_id: UUID | None = None
    """Campaign of the reports; None for other work."""
    reports: CheckedReports | None = None
    is_alone: bool = False
    """Whether it runs alone and outside a transaction."""
    answer: "asyncio.Future[Any]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def weight(self) -> int:
        """Number of reports in the request; 1 for other work."""
        return 1 if self.reports is None else max(1, len(self.reports))


class Backlog:
    """Waiting requests, oldest first; safe for any thread."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._most = most_waiting
        self._requests: deque[Request] = deque()
        self._weight = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """Return how many requests wait."""
        return len(self._requests)

    def add(self, request: Request) -> None:
        """Add a request, or refuse it because too many wait already."""
        with self._lock:
            if self._requests and self._weight + request.weight > self._most:
                raise StoreRefusal(Reason.OVERLOADED)
            self._weight += request.weight
            self._requests.append(request)

    def take(self) -> Sequence[Request]:
        """Return the oldest requests that may be written together, or none."""
        with self._lock:
            taken: list[Request] = []
            weight = 0
            while self._requests and not (taken and taken[0].is_alone):
                request = self._requests[0]
                if taken and (request.is_alone or weight + request.weight > MOST_TOGETHER):
                    break
                weight += request.weight
                taken.append(self._requests.popleft())
            self._weight -= weight
            return taken


def settle(outcomes: Sequence[tuple[Request, Any]]) -> None:
    """Answer the requests that still wait; called in their event loop."""
    for request, outcome in outcomes:
        if request.answer.done():  # the client left; its request is on disk nevertheless
            continue
        if isinstance(outcome, BaseException):
            request.answer.set_exception(outcome)
        else:
            request.answer.set_result(outcome)
