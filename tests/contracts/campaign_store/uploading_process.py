"""Uploads reports until it is killed at a labelled point of a write; says which were acknowledged.

    python uploading_process.py ADDRESS CAMPAIGN POINT COUNT [early]

With ``early`` it lies: a report counts as acknowledged once it is sent. The test must notice.
"""

import asyncio
import os
import signal
import sys
from uuid import UUID

from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite import older_ids
from campaign_stores import some_reports

UPLOADERS = 16


async def upload(address: str, campaign: UUID, point: str, count: int, *, is_early: bool) -> None:
    left = count

    def reach(here: str) -> None:
        nonlocal left
        left -= here == point
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    older_ids.MOST_RECENT = 10  # ids move while it is killed
    store = await open_store(address, reach=reach)
    numbers = iter(range(1_000_000))

    async def one_uploader() -> None:
        for number in numbers:
            if is_early:
                os.write(1, b"%d\n" % number)
            await store.add_reports(campaign, some_reports([number], cells=[number % 7]))
            if not is_early:
                os.write(1, b"%d\n" % number)

    await asyncio.gather(*(one_uploader() for _ in range(UPLOADERS)))


if __name__ == "__main__":
    asyncio.run(
        upload(
            sys.argv[1],
            UUID(sys.argv[2]),
            sys.argv[3],
            int(sys.argv[4]),
            is_early=sys.argv[5:] == ["early"],
        )
    )
