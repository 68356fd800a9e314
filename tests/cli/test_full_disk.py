"""A full disk: one sentence, status 2, and nothing left of what did not fit.

The disk is a small file system in memory, mounted in a namespace that ends with the command.
Where a person may make no namespace, a limit on the size of files stands in for it: the same
writes fail, only the system's reason is another.
"""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from cli.outcomes import (
    PROMISE,
    Command,
    Outcome,
    assert_refused,
    assert_sentence,
    going_on,
    names_in,
)

SCRIPT = Path(sys.executable).with_name("blender-dp")
AFTERWARDS = 'status=$?; ls -A "$DISK"; exit $status'
MOUNTED = f'mount -t tmpfs -o size="$SIZE" tmpfs "$DISK" && "$@"; {AFTERWARDS}'
LIMITED = f'ulimit -f $((SIZE / 512)); "$@"; {AFTERWARDS}'
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")

OnFullDisk = Callable[..., Outcome]


def can_mount(folder: Path) -> bool:
    """Tell whether a namespace with a file system of its own may be made here."""
    if shutil.which("unshare") is None:
        return False
    mount = [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


@pytest.fixture
def on_full_disk(core_environment: dict[str, str], place: Path) -> OnFullDisk:
    """Return a function that runs the script with ``place`` on a disk of so many bytes."""
    mounts = can_mount(place)

    def run(size: int, *arguments: str | Path) -> Outcome:
        wrapped = [*NAMESPACE, "sh", "-c", MOUNTED] if mounts else ["sh", "-c", LIMITED]
        ended = subprocess.run(
            [*wrapped, "sh", SCRIPT, *going_on(arguments)],
            capture_output=True,
            text=True,
            check=False,
            env={**core_environment, "DISK": str(place), "SIZE": str(size)},
        )
        if mounts:
            assert "the disk is full" in ended.stderr
        return Outcome(status=ended.returncode, out=ended.stdout, err=ended.stderr)

    return run


def test_a_result_that_does_not_fit_is_not_there(
    on_full_disk: OnFullDisk, log: Path, place: Path
) -> None:
    sides = (*PROMISE, "--opt-in=0.5")
    assert_refused(on_full_disk(40_960, "run", log, *sides, "-o", place / "out"))


def test_a_log_that_does_not_fit_is_not_there(on_full_disk: OnFullDisk, place: Path) -> None:
    assert_refused(on_full_disk(40_960, "synth", "--users=3000", "-o", place / "log.parquet"))


def test_a_working_copy_that_does_not_fit_is_not_there(
    on_full_disk: OnFullDisk, long_log: Path, place: Path
) -> None:
    options = (*PROMISE, "--opt-in=0.5", "--memory-limit=64MiB")
    assert_refused(on_full_disk(1 << 20, "run", long_log, *options, "-o", place / "out"))


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("name", ["run", "head-list", "estimate"])
def test_a_disk_that_is_full_at_the_last_moment_is_a_sentence(
    command: Command, log: Path, reports: Path, place: Path, reason: int, name: str
) -> None:
    """Some file systems find out only when they are told to write for good."""
    options: dict[str, list[str | Path]] = {
        "run": [log, *PROMISE, "--opt-in=0.5"],
        "head-list": [log, *PROMISE],
        "estimate": [reports.with_name("head_list.json"), reports],
    }
    failure = OSError(reason, os.strerror(reason))
    with patch("os.fsync", side_effect=failure):
        outcome = command(name, *options[name], "-o", place / "out.json")
    assert_refused(outcome, "the disk is full")
    assert names_in(place) == []


def test_output_that_cannot_be_written_is_a_sentence(
    script: Callable[..., subprocess.Popen[str]], head_list: Path
) -> None:
    with Path("/dev/full").open("w") as full:
        process = script("privatize", head_list, "--record", "q", "u", stdout=full)
        _, err = process.communicate(timeout=60)
    outcome = Outcome(status=process.returncode, out="", err=err)
    assert_refused(outcome)


def test_nobody_is_told_that_nothing_was_written_when_something_was(
    script: Callable[..., subprocess.Popen[str]], place: Path
) -> None:
    with Path("/dev/full").open("w") as full:
        process = script("synth", "--users=9", "-o", place / "log.csv", stdout=full)
        _, err = process.communicate(timeout=60)
    assert_sentence(Outcome(status=process.returncode, out="", err=err))
    assert ("nothing was written" in err) == (names_in(place) == [])
