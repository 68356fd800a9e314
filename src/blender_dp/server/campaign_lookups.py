"""Campaigns that a small server knows to be open, looked up at the collector when needed.

Anybody can invent ids of campaigns. So a refused one is not looked up again for some seconds, and
few are looked up at the same time.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from uuid import UUID

from blender_dp.server.collector import CollectorError
from blender_dp.server.databases.database import UnavailableError
from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError

STALE_SECONDS = 60.0
"""A campaign is looked up again if the collector has not said for so long that it is open."""
_REFUSED_SECONDS = 5.0
MOST_REFUSED = 10_000
_MOST_LOOKUPS = 8
Found = TypeVar("Found")


class CampaignLookups(Generic[Found]):
    """Open campaigns, and what a server knows of each; belongs to one event loop."""

    def __init__(
        self,
        look_up: Callable[[UUID], Awaitable[Found]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep what it works with.

        Args:
            look_up: Returns what is to be known of an open campaign, or refuses any other.
            clock: Seconds.
        """
        self._look_up, self._clock = look_up, clock
        self._open: dict[UUID, Found] = {}
        self._said_at: dict[UUID, float] = {}
        self._refused: dict[UUID, tuple[float, ProblemError]] = {}
        self._lookups: dict[UUID, asyncio.Task[Found]] = {}

    def known(self, campaign: UUID) -> Found | None:
        """Return a campaign if it is known to be open."""
        if self._clock() - self._said_at.get(campaign, float("-inf")) > STALE_SECONDS:
            return None
        return self._open.get(campaign)

    async def find(self, campaign: UUID) -> Found:
        """Return an open campaign, looked up if needed, or refuse."""
        if (found := self.known(campaign)) is not None:
            return found
        if campaign in self._refused:
            until, error = self._refused[campaign]
            if self._clock() < until:
                raise error.with_traceback(None)
        if campaign not in self._lookups:
            if len(self._lookups) >= _MOST_LOOKUPS:
                raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS)
            self._lookups[campaign] = asyncio.create_task(self._found(campaign))
        return await asyncio.shield(self._lookups[campaign])

    def note_open(self, campaign: UUID) -> None:
        """Note that the collector said of a known campaign that it is still open."""
        self._said_at[campaign] = self._clock()

    def forget(self, campaign: UUID) -> None:
        """Look a campaign up again before anything is done for it."""
        self._open.pop(campaign, None)

    async def _found(self, campaign: UUID) -> Found:
        try:
            found = await self._look_up(campaign)
        except (CollectorError, UnavailableError):
            raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS) from None
        except ProblemError as error:
            if len(self._refused) >= MOST_REFUSED:
                self._refused.clear()
            self._refused[campaign] = (self._clock() + _REFUSED_SECONDS, error)
            raise
        finally:
            del self._lookups[campaign]
        self._open[campaign], self._said_at[campaign] = found, self._clock()
        return found
