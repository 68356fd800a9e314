"""Processes beside the service that open and close its database, one after the other."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from pathlib import Path

HERE = Path(__file__).parent
ON_SQLITE = ("token-list", "token-create", "work", "backup", "sqlite")
ON_POSTGRES = ("token-list", "token-create", "work")
_PAUSE = 0.2
"""Seconds between two processes: the service needs the processors too."""


class Bystanders:
    """One process at a time, each of a kind that ``second_process.py`` lists, or a command."""

    def __init__(self, process: asyncio.subprocess.Process, complaints: Path) -> None:
        self._process = process
        self._complaints = complaints
        self.succeeded: Counter[str] = Counter()

    async def try_one(self, line: str) -> bool:
        """Let a process open the database, do one thing and close it; say whether it could."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line.encode() + b"\n")
        is_done = int(await self._process.stdout.readline()) == 0
        self.succeeded[line] += is_done
        return is_done

    async def do(self, line: str) -> None:
        """Let a process do one thing, which must succeed."""
        assert await self.try_one(line), self.complaints()

    async def go_on(self, kinds: Sequence[str]) -> None:
        """Do one thing after the other until cancelled."""
        for kind in cycle(kinds):
            await self.try_one(kind)
            await asyncio.sleep(_PAUSE)

    def complaints(self) -> str:
        """Return the end of what they wrote to standard error."""
        return self._complaints.read_text(encoding="utf-8")[-2000:]


@asynccontextmanager
async def bystanders(
    data: Path, database: str = "", *, kinds: Sequence[str] = ()
) -> AsyncIterator[Bystanders]:
    """Give processes beside the service; those of ``kinds`` run all the time.

    Each kind must have succeeded at least once before the end.
    """
    complaints = data / "complaints-of-bystanders"
    with complaints.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(HERE / "second_process.py"), str(data), database),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # no threads that a fork would lose
        )
    beside = Bystanders(process, complaints)
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"ready\n", beside.complaints()
        working = asyncio.create_task(beside.go_on(kinds))
        yield beside
        while kinds and not all(beside.succeeded[kind] for kind in kinds):
            assert not working.done(), working.exception()
            await asyncio.sleep(0.05)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
