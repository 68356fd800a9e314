"""A service that a test kills, and that lives again on the same address."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx

HERE = Path(__file__).parent
NO_POINT = "- 0"


class MortalService:
    """One life at a time; whoever connects between two lives waits for the next."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, complaints: Path) -> None:
        self._process = process
        self._complaints = complaints
        self._life = 0
        self.url = f"http://127.0.0.1:{port}"

    @property
    def process_id(self) -> int:
        """Number of the process that forks the lives, and of its process group."""
        return self._process.pid

    async def begin(self, death: str = NO_POINT) -> None:
        """Start a life; ``death`` is where it ends by itself, a point and a count."""
        assert self._process.stdin is not None
        self._process.stdin.write(death.encode() + b"\n")
        self._life = await self._number()

    async def answers(self) -> None:
        """Wait until it has found its database."""
        async with httpx.AsyncClient(timeout=60) as http:
            assert (await http.get(f"{self.url}/health")).status_code == 200

    async def end(self) -> None:
        """Wait for the death that was arranged."""
        status = await self._number()
        self._life = 0
        assert status == -signal.SIGKILL, self._complaints.read_text(encoding="utf-8")[-2000:]

    async def kill(self) -> None:
        """Kill it, wherever it is."""
        os.kill(self._life, signal.SIGKILL)
        await self.end()

    async def stop(self) -> None:
        """Stop it as an operator does: what was accepted is answered first."""
        os.kill(self._life, signal.SIGTERM)
        status = await self._number()
        self._life = 0
        assert status == 0, self._complaints.read_text(encoding="utf-8")[-2000:]

    async def _number(self) -> int:
        assert self._process.stdout is not None
        return int(await self._process.stdout.readline())

    def bury(self) -> None:
        """Leave no process behind, whatever happened, not even a life that has just begun."""
        with suppress(ProcessLookupError):
            os.killpg(self.process_id, signal.SIGKILL)


@asynccontextmanager
async def mortal_service(
    data: Path, database: str = "", *, flaw: str = ""
) -> AsyncIterator[MortalService]:
    """Give a service on the store in ``data``, or on the database at an address."""
    async with mortal("mortal_process.py", data, database, flaw) as service:
        yield service


@asynccontextmanager
async def mortal(script: str, data: Path, *arguments: str) -> AsyncIterator[MortalService]:
    """Give what a script of this folder forks again after every death."""
    complaints = data / f"complaints-{os.urandom(4).hex()}"
    with complaints.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(HERE / script), str(data), *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": "1",  # no threads that a fork would lose
                "PYTHONPATH": str(HERE.parents[1]),
            },
        )
    assert process.stdout is not None
    port = await process.stdout.readline()
    assert port, complaints.read_text(encoding="utf-8")
    service = MortalService(process, int(port), complaints)
    try:
        yield service
    finally:
        service.bury()
        await process.wait()
