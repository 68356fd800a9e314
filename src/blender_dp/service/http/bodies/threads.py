"""Threads for large request bodies: inflating, decoding and checking happen there.

The event loop serves all clients; a body of some megabytes would stop it for as long as it takes to
read. What waits for a thread is bounded, and what a thread does is bounded by the body's limits.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from blender_dp.service.problems import RETRY_SECONDS, Problem, ProblemError

SHORT_BYTES = 1 << 13
"""A plain body of at most this length is read at once: that is faster than to wake a thread, and
takes some milliseconds at most, whatever is in it."""
_THREADS = 2
MOST_WAITING = 256
"""Bodies, those in a thread included."""
REFUSAL_SECONDS = 0.5
"""How long a refusal waits. To refuse a compressed body takes some milliseconds of a thread, to
send it again takes its client nothing: a client that waits for its answers gets two per second."""
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

        A body that ``work`` refuses is answered later than it could be, and holds no thread
        meanwhile.
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
            del outcome  # else this frame and the traceback keep each other

    def _outcome(
        self, work: Callable[Given, Result], *args: Given.args, **options: Given.kwargs
    ) -> "asyncio.Future[Result | ProblemError]":
        """Return the future of what ``work`` returns or refuses."""
        done = self._pool.submit(_refusal_as_value, partial(work, *args, **options))
        done.add_done_callback(self._free_place_soon(asyncio.get_running_loop()))
        return asyncio.wrap_future(done)

    def close(self) -> None:
        """End the threads once what they do is done; drop what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _free_place_soon(self, loop: asyncio.AbstractEventLoop) -> Callable[[object], None]:
        def free_place() -> None:
            self._waiting -= 1

        # The work goes on when its request is cancelled: its place is free when the thread is.
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
