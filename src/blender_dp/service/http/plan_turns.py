"""Turns at the planner: one question at a time, a few that wait, the others are refused."""

import asyncio
from collections.abc import Mapping
from typing import Any

from blender_dp.service.dependencies import Predict
from blender_dp.service.problems import Problem

MOST_WAITING = 4
"""Questions, the one that is being answered included."""
_RETRY_SECONDS = 10


class PlanTurns:
    """Asks the planner on behalf of one event loop."""

    def __init__(self) -> None:
        self._turn, self._waiting = asyncio.Lock(), 0

    async def ask(self, predict: Predict, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the planner's answer when it is this question's turn."""
        if self._waiting >= MOST_WAITING:
            raise Problem.OVERLOADED.error(retry_after=_RETRY_SECONDS)
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(predict, question)
        finally:
            self._waiting -= 1
