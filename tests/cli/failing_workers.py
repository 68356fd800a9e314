"""A supervisor whose workers fail.

``python failing_workers.py STATUS [listened]``: they die with this exit status.
``python failing_workers.py obeys|hangs``: they live, and end by SIGTERM or only by SIGKILL.
"""

import os
import signal
import sys
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection

from blender_dp.cli import supervision
from blender_dp.server.event_log import EventLog


def now() -> datetime:
    return datetime.now(UTC)


def fail(status: int, listened: bool, _number: int, saying: Connection, again: bool) -> None:
    """Die, at once or, in the first life, after having listened."""
    if listened and not again:
        saying.send_bytes(b"!")
    os._exit(status)


def live(how: str, _number: int, saying: Connection, _again: bool) -> None:
    """Listen until a signal comes, or for ever."""
    if how == "hangs":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    saying.send_bytes(b"!")
    while True:
        signal.pause()


def say_where() -> None:
    sys.stderr.write('{"event":"listening"}\n')


if __name__ == "__main__":
    supervision._PAUSES_SECONDS = (0.01,)
    supervision._MOST_FAILED_STARTS = 2
    supervision.KILLED_AFTER_SECONDS = 1 if sys.argv[1] == "hangs" else 60
    serve = (
        partial(fail, int(sys.argv[1]), sys.argv[2:] == ["listened"])
        if sys.argv[1].isdigit()
        else partial(live, sys.argv[1])
    )
    sys.exit(supervision.Supervisor(serve, 2, EventLog(now), listens=say_where).run())
