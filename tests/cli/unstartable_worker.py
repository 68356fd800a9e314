"""A supervisor that gets no process at times: ``python unstartable_worker.py once|always``."""

import errno
import os
import signal
import sys
import time
from datetime import UTC, datetime
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.process import BaseProcess

from blender_dp.cli import supervision
from blender_dp.server.event_log import EventLog

_THIRD = 2
"""The start, counted from 0, that follows those of both workers."""


def now() -> datetime:
    return datetime.now(UTC)


def serve(number: int, saying: Connection, again: bool) -> None:
    """Live until told to end; the first worker dies once, and stops everything when it is back."""
    if again:
        os.kill(os.getppid(), signal.SIGTERM)
    saying.send_bytes(b"!")
    if number == 0 and not again:
        os._exit(3)
    time.sleep(60)


def refuse_starts(*, always: bool) -> None:
    """Let the system have no process to give, for the third start or for any."""
    start, starts = SpawnProcess.start, count()

    def starting(self: BaseProcess) -> None:
        if always or next(starts) == _THIRD:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        start(self)

    SpawnProcess.start = starting  # type: ignore[method-assign]


if __name__ == "__main__":
    supervision._PAUSES_SECONDS = (0.01,)
    supervision._MOST_FAILED_STARTS = 2
    refuse_starts(always=sys.argv[1:] == ["always"])
    sys.exit(supervision.Supervisor(serve, 2, EventLog(now), listens=lambda: None).run())
