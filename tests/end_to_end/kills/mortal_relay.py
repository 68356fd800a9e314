"""The relay, living again after every death: ``python mortal_relay.py DATA DATABASE COLLECTOR``.

As in ``mortal_process.py`` everything is imported once and each line read forks a relay on the same
socket; whoever reads says how it ended. With ``early`` as a fourth argument the relay acknowledges
before it commits.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from end_to_end.kills.mortal_process import say

from blender_dp.cli import relaying
from blender_dp.cli.ending import Ending
from blender_dp.cli.event_loop import now, run_loop
from blender_dp.cli.terminal import RESULTS
from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.signing_key import signing_key
from blender_dp.relay.storage.report_writer import Added, ReportWriter
from blender_dp.server.event_log import EventLog

PIECE = 40
"""Reports in a piece: a batch has several."""
_writing: set["asyncio.Task[Added]"] = set()
_add = ReportWriter.add


async def _acknowledge_first(self: ReportWriter, campaign: int, reports: Sequence[bytes]) -> Added:
    async def add_later() -> Added:
        await asyncio.sleep(0.1)
        return await _add(self, campaign, reports)

    _writing.add(asyncio.create_task(add_later()))
    return Added(accepted=len(reports), repeated=0)


def live(options: relaying.RelayServer, bound: socket.socket) -> None:
    """Serve until killed, or until told to stop."""
    ending = Ending(event_log=EventLog(now))
    run_loop(relaying._serve(options, signing_key(options.data), bound, ending))


def main(data: str, database: str, collector: str, *flaws: str) -> None:
    if "early" in flaws:
        setattr(ReportWriter, "add", _acknowledge_first)  # noqa: B010 - a deliberate flaw
    small = partial(Dependencies, piece_size=PIECE)
    setattr(relaying, "Dependencies", small)  # noqa: B010 - not for anybody else to import
    setattr(RESULTS, "print", lambda _said: None)  # noqa: B010 - numbers are said there
    options = relaying.RelayServer(
        collector=collector,
        data=Path(data),
        database=database or str(Path(data) / "relay.sqlite"),
        collector_key=None,
        host="127.0.0.1",
        port=0,
        poll_seconds=0.02,
    )
    with socket.create_server(("127.0.0.1", 0), backlog=256) as bound:
        say(bound.getsockname()[1])
        for _ in sys.stdin:
            life = os.fork()
            if not life:
                live(options, bound)
                os._exit(0)
            say(life)
            say(os.waitstatus_to_exitcode(os.waitpid(life, 0)[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
