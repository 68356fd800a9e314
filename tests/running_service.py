"""A real service on loopback: ``blender-dp serve`` in a process of its own, on SQLite."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningService:
    """Where it listens, and the token of its operator."""

    url: str
    token: str
    token_file: Path


@contextmanager
def running_service(directory: Path) -> Iterator[RunningService]:
    """Start a service in an empty directory, and stop it at the end."""
    command = [sys.executable, "-m", "blender_dp.cli", "serve", "--port", "0"]
    command += ["--data", str(directory / "data"), "--uploads-per-second", "100000"]
    said, complaints = directory / "serve.out", directory / "serve.err"
    with said.open("wb") as out, complaints.open("wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
    try:
        url = found_in(process, complaints, r'"event":"listening","address":"([^"]+)"')
        token = found_in(process, said, r"shown this once: (\S+)")
        token_file = directory / "token"
        token_file.write_text(token + "\n", encoding="ascii")
        yield RunningService(url=url, token=token, token_file=token_file)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def found_in(process: subprocess.Popen[bytes], path: Path, pattern: str) -> str:
    """Return what a process writes into a file, once it is there."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(pattern, path.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"the process did not start: {path.read_text(encoding='utf-8')[-500:]}")
