"""A real relay on loopback: ``blender-dp relay`` in a process of its own, on SQLite."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from running_service import PATIENCE, found_in


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRelay:
    """Where it listens, its public key, and all files that it writes."""

    url: str
    key: str
    directory: Path


@contextmanager
def running_relay(directory: Path, collector: str) -> Iterator[RunningRelay]:
    """Start a relay of a collector in an empty directory, and stop it at the end."""
    command = [sys.executable, "-m", "blender_dp.cli", "relay", "--port", "0"]
    command += ["--collector", collector, "--data", str(directory / "data")]
    command += ["--poll-seconds", "0.2"]
    said, complaints = directory / "relay.out", directory / "relay.err"
    with said.open("wb") as out, complaints.open("wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
    try:
        url = found_in(process, complaints, r'"event":"listening","address":"([^"]+)"')
        key = found_in(process, said, r"public key of this relay: (\S+)")
        yield RunningRelay(url=url, key=key, directory=directory)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
