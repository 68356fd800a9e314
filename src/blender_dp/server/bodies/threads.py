"""Threads for large request bodies: inflating, decoding and checking happen there.

The event loop serves all clients, and would stand still while it parses a body of some megabytes.
The number of bodies that wait for a thread is bounded. The work of a thread is bounded by the
body's limits.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from blender_dp.server.problems import RETRY_SECONDS, Problem, ProblemError

SHORT_BYTES = 1 << 13
"""A plain body of at most this length is parsed in the event loop. That is faster than waking a
thread, and takes at most some milliseconds for any content."""
_THREADS = 2
MOST_WAITING = 256
"""Most bodies that wait or are in a thread."""
REFUSAL_SECONDS = 0.5
"""Delay of a refusal. Refusing a compressed body costs a thread some milliseconds; sending it again
costs the client nothing. With the delay, a client that waits for its answers gets at most two per
second."""
Given = ParamSpec("Given")
Result = TypeVar("Result")


class BodyThreads:
    """Runs one function per body; belongs to one event loop."""

    def __init__(
        self, most_waiting: int = MOST_WAITING, refusal_seconds: float = REFUSAL_SECONDS
    ) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="bodies")
        self._most, self._waiting = most_waiting, 0
        self._refusal_seconds = refusal_seconds

    async def run(
        self, work: Callable[Given, Result], *args: Given.args, **options: Given.kwargs
    ) -> Result:
        """Return what ``work`` returns; refuse as overloaded if too many bodies wait.

        The answer to a refused body is delayed; no thread is held during the delay.
        """
        if self._waiting >= self._most:
            raise Problem.OVERLOADED.error(retry_after=RETRY_SECONDS)
        self._waiting += 1
        outcome = await self._outcome(work, *args, **options)
        if not isinstance(outcome, ProblemError):
            return outcome
        try:
            await asyncio.sleep(self._refusal_seconds)
            raise outcome
        finally:
            del outcome  # otherwise this frame and the traceback keep each other in memory

    def _outcome(
        self, work: Callable[Given, Result], *args: Given.args, **options: Given.kwargs
    ) -> "asyncio.Future[Result | ProblemError]":
        """Return the future of what ``work`` returns or refuses."""
        done = self._pool.submit(_refusal_as_value, partial(work, *args, **options))
        done.add_done_callback(self._free_place_soon(asyncio.get_running_loop()))
        return asyncio.wrap_future(done)

    def close(self) -> None:
        """End the threads after their current work; drop the bodies that wait."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _free_place_soon(self, loop: asyncio.AbstractEventLoop) -> Callable[[object], None]:
        def free_place() -> None:
            self._waiting -= 1

        # The work continues when its request is cancelled, so its place is freed when the thread
        # ends.
        def call(_done: object) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(free_place)

        return call


def _refusal_as_value(work: Callable[[], Result]) -> Result | ProblemError:
    """Return a refusal without its traceback, whose frames hold the inflated body."""
    try:
        return work()
    except ProblemError as error:
        error.__context__ = None
        return error.with_traceback(None)
