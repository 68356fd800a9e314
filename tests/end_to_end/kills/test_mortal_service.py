"""What a kill test starts ends with it, also where the test fails in the middle of a start."""

import asyncio
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from end_to_end.kills.mortal_service import mortal_service

pytestmark = pytest.mark.anyio


async def test_a_life_that_has_just_begun_ends_with_its_test(tmp_path: Path) -> None:
    """Its number was not read yet, and to kill the process that forked it left it alive."""
    async with asyncio.timeout(60):
        async with mortal_service(tmp_path) as service:
            beginning = asyncio.create_task(service.begin())
            await asyncio.sleep(0)
            beginning.cancel()
            with suppress(asyncio.CancelledError):
                await beginning
            while not (lives := psutil.Process(service.process_id).children()):
                await asyncio.sleep(0.01)
        while any(map(_lives, lives)):  # a process that was killed takes a moment to die
            await asyncio.sleep(0.01)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
