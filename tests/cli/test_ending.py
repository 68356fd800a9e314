"""A process of the service ends when it is told to, whatever hangs."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from blender_dp.cli import ending, supervision

_PATIENCE = 60.0
"""Seconds; what hangs in these tests would hang for 300."""


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ("loop", ending.FORCED_STATUS, '"event":"ended-by-force"'),
        ("computation", 0, ""),
        ("interpreter", -signal.SIGALRM, ""),
    ],
)
def test_whatever_hangs_a_signal_ends_it(how: str, status: int, said: str) -> None:
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("hanging_process.py"), how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.terminate()
            _, err = process.communicate(timeout=_PATIENCE)
        finally:
            process.kill()
    assert process.returncode == status
    assert said in err


def test_all_of_it_takes_less_than_ten_seconds() -> None:
    assert ending.GRACE_SECONDS < ending.FORCED_AFTER_SECONDS
    assert ending.FORCED_AFTER_SECONDS < ending._BY_THE_KERNEL_AFTER_SECONDS < 10
    assert ending.FORCED_AFTER_SECONDS < supervision.KILLED_AFTER_SECONDS < 10
