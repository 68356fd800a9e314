"""Memory limit for request bodies: all that are being received or decoded share one budget.

Bytes are counted as they arrive, not as a header announces them. So a header alone takes no memory
from other requests. Small bodies are not counted: the server's limit on open connections
bounds them already, and a single report must not wait for uploads of batches.
"""

import asyncio
from collections import deque
from types import TracebackType

from blender_dp.server.problems import RETRY_SECONDS, Problem

MOST_BYTES = 1 << 27
"""Bytes of all bodies together: four of the largest batches, or a hundred usual ones."""
SMALL_BYTES = 1 << 16
"""Bytes of every body that are not counted."""
PATIENCE_SECONDS = 2.0
"""How long a body waits for room before it is refused. The first in the queue waits twice as long:
bodies that wait for each other are then not all refused at once."""


class BodiesInFlight:
    """Shared budget of bytes; belongs to one event loop."""

    def __init__(self, most: int = MOST_BYTES, patience: float = PATIENCE_SECONDS) -> None:
        self._free, self._patience = most, patience
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def free(self) -> int:
        """Bytes that are left."""
        return self._free

    def lease(self) -> "BodyLease":
        """Return an empty lease for one body; leaving its ``with`` block gives the bytes back."""
        return BodyLease(self)

    async def take(self, count: int) -> None:
        """Take bytes, waiting a while for room; refuse as overloaded if there is none."""
        if not self._waiting and count <= self._free:
            self._free -= count
            return
        place = (count, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        try:
            async with asyncio.timeout(self._patience * (1 + 1 / len(self._waiting))):
                await place[1]
        except BaseException as error:
            if place in self._waiting:
                self._waiting.remove(place)
            else:  # given in the same turn of the loop in which the wait ended
                self._free += count
            self._serve_waiting()
            if isinstance(error, TimeoutError):
                raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS) from None
            raise

    def give_back(self, count: int) -> None:
        """Give bytes back; the requests that wait longest get them first."""
        self._free += count
        self._serve_waiting()

    def _serve_waiting(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._free:
            count, place = self._waiting.popleft()
            self._free -= count
            if place.done():  # cancelled in this turn of the loop; its task gives the bytes back
                continue
            place.set_result(None)


class BodyLease:
    """Bytes of the shared budget that one body holds."""

    __slots__ = ("_budget", "_held")

    def __init__(self, budget: BodiesInFlight) -> None:
        self._budget, self._held = budget, 0

    def __enter__(self) -> "BodyLease":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._held:
            self._budget.give_back(self._held)
            self._held = 0

    async def hold(self, total: int) -> None:
        """Hold enough for a body of ``total`` bytes so far."""
        more = total - SMALL_BYTES - self._held
        if more > 0:
            await self._budget.take(more)
            self._held += more
