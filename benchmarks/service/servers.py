"""Server processes, ended by SIGKILL to check that every acknowledged report survives."""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class RunningServer:
    """Where it listens, and its process."""

    url: str
    process: psutil.Process

    @property
    def memory_mb(self) -> float:
        """Resident memory now."""
        return float(self.process.memory_info().rss) / 2**20

    @property
    def cpu_seconds(self) -> float:
        """Processor time so far, of its workers too."""
        return cpu_seconds(self.process)


def cpu_seconds(process: psutil.Process) -> float:
    """Return the processor time of a process and of those below it, so far."""
    seconds = 0.0
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it ended just now
            times = one.cpu_times()
            seconds += times.user + times.system
    return seconds


@contextmanager
def running(arguments: Sequence[str]) -> Iterator[RunningServer]:
    """Start a server and kill it at the end."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as said:
        with Path(said.name).open("wb") as out:
            command = [sys.executable, "-m", *arguments]
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        try:
            yield RunningServer(_address(said.name, process), psutil.Process(process.pid))
        finally:
            process.kill()
            process.wait()


def _address(said: str, process: "subprocess.Popen[bytes]") -> str:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with Path(said).open(encoding="utf-8") as file:
            for line in file:
                if found := re.search(r'listening.*?(https?://[^\s"]+)', line):
                    return found[1]
        time.sleep(0.05)
    raise SystemExit(f"no server: {Path(said).read_text(encoding='utf-8')[-500:]}")


def nothing() -> Sequence[str]:
    """Return what starts the route that does nothing."""
    return ("benchmarks.service.noop",)


def service(directory: Path, database: str, workers: int = 1) -> Sequence[str]:
    """Return what starts the service."""
    store = ["--database", database] if "://" in database else []
    given = ["--port", "0", "--data", str(directory), "--workers", str(workers), *store]
    return ("blender_dp.cli", "serve", *given)
