"""Devices in processes of their own, which die at a labelled point.

Everything is imported once; each line read is a list of devices as JSON. Every device is forked,
all at once, and a line says how each of them ended and what it wrote.
"""

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO
from uuid import UUID

from blender_dp.client import BlenderClient

MOST_SECONDS = 60
"""A device that lives longer is killed."""


def report_once(url: str, directory: str, campaign: str, deadly: str, role: str) -> str:
    """Report once and return the state of the report; die at the point ``deadly``."""

    def checkpoint(point: str) -> None:
        if point == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    with BlenderClient(url, directory, checkpoint=checkpoint) as device:
        through_relay = role == "relayed"
        return device.report(
            UUID(campaign), "query 001", "1.example", through_relay=through_relay
        ).state


def begin(arguments: Sequence[str], said: IO[bytes]) -> int:
    """Fork a device and return the number of its process."""
    process = os.fork()
    if process:
        return process
    status = 1
    signal.alarm(MOST_SECONDS)
    try:
        os.write(said.fileno(), report_once(*arguments).encode())
        status = 0
    except BaseException:  # noqa: BLE001 - the process ends without showing it
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(asked: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """Return how devices ended that live at once, and what each of them wrote."""
    with ExitStack() as files:
        said = [files.enter_context(tempfile.TemporaryFile()) for _ in asked]
        begun = [begin(*one) for one in zip(asked, said, strict=True)]
        statuses = [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in begun]
        written = []
        for file in said:
            file.seek(0)
            written.append(file.read().decode())
    return list(zip(statuses, written, strict=True))


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(ended(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
