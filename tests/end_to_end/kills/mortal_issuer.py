"""The issuer, living again after every death: ``python mortal_issuer.py DATA DATABASE COLLECTOR``.

As in ``mortal_process.py`` everything is imported once and each line read forks an issuer on the
same socket; whoever reads says how it ended. The login is a hook at the collector's address. With
``early`` as a fourth argument the issuer answers before it commits.
"""

import asyncio
import os
import socket
import sys
from functools import partial
from pathlib import Path

from end_to_end.kills.flawed_stores import LATE, request_of
from end_to_end.kills.mortal_process import say

from blender_dp.cli import issuing
from blender_dp.cli.ending import Ending
from blender_dp.cli.event_loop import now, run_loop
from blender_dp.cli.terminal import RESULTS
from blender_dp.issuer.campaign_keys import CampaignKeys
from blender_dp.issuer.storage.store import IssuerStore, Refused
from blender_dp.server.event_log import EventLog

_writing: set["asyncio.Task[object]"] = set()
_asked: dict[bytes, bytes] = {}
_issue = IssuerStore.issue


async def _answer_first(
    self: IssuerStore, number: int, person: bytes, request: bytes
) -> int | Refused:
    """Refuse what is stored or was answered in this life, so only a death shows the flaw."""
    stored = await self.database.read(partial(request_of, column="person", value=person))
    if (stored or _asked.setdefault(person, request)) != request:
        return Refused.ANOTHER_REQUEST

    async def issue_late() -> object:
        await asyncio.sleep(LATE)
        return await _issue(self, number, person, request)

    _writing.add(asyncio.create_task(issue_late()))
    return 0


def live(options: issuing.IssuerServer, bound: socket.socket) -> None:
    """Serve until killed, or until told to stop."""
    ending = Ending(event_log=EventLog(now))
    run_loop(issuing._serve(options, CampaignKeys(options.data), bound, ending))


def main(data: str, database: str, collector: str, flaw: str = "") -> None:
    if flaw == "early":
        setattr(IssuerStore, "issue", _answer_first)  # noqa: B010 - a deliberate flaw
    setattr(RESULTS, "print", lambda _said: None)  # noqa: B010 - numbers are said there
    options = issuing.IssuerServer(
        collector=collector,
        login_hook=f"{collector}/whoami",
        openid_provider=None,
        audience=None,
        data=Path(data),
        database=database or str(Path(data) / "issuer.sqlite"),
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
