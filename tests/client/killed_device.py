"""A device in a process of its own, which dies at a labelled point: python killed_device.py …"""

import os
import signal
import sys
from uuid import UUID

from blender_dp.client import BlenderClient


def main(url: str, directory: str, campaign: str, deadly: str, role: str) -> None:
    def checkpoint(point: str) -> None:
        if point == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    with BlenderClient(url, directory, checkpoint=checkpoint) as device:
        through_relay = role == "relayed"
        kept = device.report(UUID(campaign), "query 001", "1.example", through_relay=through_relay)
        sys.stdout.write(kept.state)


if __name__ == "__main__":
    main(*sys.argv[1:])
