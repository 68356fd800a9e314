"""Processor time and peak memory of a child process."""

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Usage:
    """What one process used."""

    cpu_seconds: float
    wall_seconds: float
    peak_mb: float


def made_by(command: str) -> str:
    """Return the line that says by what, when and on what machine figures were made."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"Made by `{command}` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB, Python {platform.python_version()}."
    )


def run_python(*arguments: str) -> Usage:
    """Run this Python with arguments and return what it used."""
    return _run([sys.executable, *arguments])


def run_script(name: str, *arguments: str) -> Usage:
    """Run a script of this environment and return what it used."""
    return _run([str(Path(sys.executable).parent / name), *arguments])


def _run(command: Sequence[str]) -> Usage:
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            output.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{output.read().decode()}")
    return Usage(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)
