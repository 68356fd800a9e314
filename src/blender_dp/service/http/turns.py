"""Turns at long computations: one runs, a few wait, others are refused."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from blender_dp.server.problems import Problem

MOST_WAITING = 4
"""Most requests that wait, with the one that is being answered."""
_RETRY_SECONDS = 10
Given = ParamSpec("Given")
Result = TypeVar("Result")


class Turns:
    """Runs functions of one kind in a thread, one after the other; belongs to one event loop."""

    def __init__(self) -> None:
        self._turn, self._waiting = asyncio.Lock(), 0

    async def run(
        self, work: Callable[Given, Result], *args: Given.args, **options: Given.kwargs
    ) -> Result:
        """Return what ``work`` returns; refuse as overloaded if too many requests wait."""
        if self._waiting >= MOST_WAITING:
            raise Problem.OVERLOADED.error(retry_after=_RETRY_SECONDS)
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(work, *args, **options)
        finally:
            self._waiting -= 1
