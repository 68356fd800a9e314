"""Planner of a service: a separate process per question, with limits on time and memory.

A question with many opt-in users would take hours and all memory, and a thread of the service could
not be ended.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blender_dp.cli.failures import OUT_OF_MEMORY
from blender_dp.core.errors import BlenderError, BrokenInvariantError
from blender_dp.service.dependencies import TooMuchWorkError

SECONDS = 60.0
"""Time limit of one question, from the start of its process to its end."""
_COMMAND = (sys.executable, "-m", "blender_dp.cli.plan_process")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedPlanner:
    """Answers questions; blocks, so it is called in a thread."""

    seconds: float = SECONDS
    command: Sequence[str] = _COMMAND

    def __call__(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer to a question; raise if it would take too long or too much."""
        reading, writing = os.pipe()  # closed when the parent ends, which stops the child
        try:
            process = subprocess.Popen(  # noqa: S603 - our own command, and numbers as JSON
                [*self.command, json.dumps(question)],
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        finally:
            os.close(reading)
        try:
            written, _ = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            raise TooMuchWorkError from None
        finally:
            process.kill()
            process.communicate()
            os.close(writing)
        return _answer(process.returncode, written)


def _answer(status: int, written: bytes) -> Mapping[str, Any]:
    if status < 0 or status == OUT_OF_MEMORY:  # the kernel or the memory limit ended it
        raise TooMuchWorkError
    if status != 0:
        raise BrokenInvariantError("the planner's process failed")
    answer: Mapping[str, Any] | None = json.loads(written)
    if answer is None:
        raise BlenderError("the planner cannot answer this")
    return answer
