"""Issues one token and is killed at a labelled point of the write.

python issuing_process.py ADDRESS CAMPAIGN POINT
"""

import asyncio
import os
import signal
import sys
from uuid import UUID

from blender_dp.service.storage.open_store import open_store


async def issue(address: str, campaign: UUID, point: str) -> None:
    def reach(here: str) -> None:
        if here == point:
            os.kill(os.getpid(), signal.SIGKILL)

    store = await open_store(address, reach=reach)
    await store.issue_token(campaign, b"a" * 32, b"1" * 32)


if __name__ == "__main__":
    asyncio.run(issue(sys.argv[1], UUID(sys.argv[2]), sys.argv[3]))
