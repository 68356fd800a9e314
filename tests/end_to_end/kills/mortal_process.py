"""The service, living again after every death: ``python mortal_process.py DATA DATABASE``.

Everything is imported once and the socket is opened once; each line read forks a service on that
socket, as a supervisor would start it, and says how it ended. A line is ``POINT COUNT``: the
service kills itself when it reaches that labelled point of a write for the COUNT-th time; ``-``
is no point. A third argument names a flaw of the store (``flawed_stores.py``).
"""

import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from end_to_end.kills.flawed_stores import FLAWS

from blender_dp.cli import serving
from blender_dp.cli.ending import Ending
from blender_dp.cli.event_loop import now, run_loop
from blender_dp.cli.service_options import ServiceOptions
from blender_dp.server.event_log import EventLog
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite import older_ids


def death_at(point: str, count: int) -> Callable[[str], None]:
    left = count

    def reach(here: str) -> None:
        nonlocal left
        left -= here == point
        if here == point and not left:
            os.kill(os.getpid(), signal.SIGKILL)

    return reach


async def opened(database: str, *, point: str, count: int, flaw: str) -> Any:
    store = await open_store(database, reach=death_at(point, count))
    return FLAWS[flaw](store) if flaw else store


def live(storage: ServiceOptions, bound: socket.socket, line: str, flaw: str) -> None:
    """Serve until killed, or until told to stop."""
    point, count = line.split()
    # Two things differ from `blender-dp serve`: somebody listens at the labelled points, and ids
    # move into bundles in every life.
    older_ids.MOST_RECENT = 100
    patched = partial(opened, point=point, count=int(count), flaw=flaw)
    setattr(serving, "open_store", patched)  # noqa: B010 - not for anybody else to import
    host, port = bound.getsockname()[:2]
    listening = serving.Listening(
        host=host, port=port, workers=1, certificate=None, key=None, has_jobs=True
    )
    ending = Ending(event_log=EventLog(now))
    run_loop(serving._serve(storage, listening, bound, ending, lambda: None))


def say(number: int) -> None:
    os.write(1, b"%d\n" % number)


def main(data: str, database: str, flaw: str = "") -> None:
    storage = ServiceOptions(data=Path(data), database=database or None)
    with socket.create_server(("127.0.0.1", 0), backlog=256) as bound:
        say(bound.getsockname()[1])
        for line in sys.stdin:
            life = os.fork()
            if not life:
                live(storage, bound, line, flaw)
                os._exit(0)
            say(life)
            say(os.waitstatus_to_exitcode(os.waitpid(life, 0)[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
