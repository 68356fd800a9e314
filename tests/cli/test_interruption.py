"""Ctrl-C in the middle, a reader who leaves, and who sees progress."""

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, names_in

from blender_dp.cli import reproduce
from blender_dp.engine.synthetic import Shape, synthesize, write_aol

Start = Callable[..., subprocess.Popen[str]]
PATIENCE = 60.0


def interrupt(
    process: subprocess.Popen[str], place: Path, expected: int = 1
) -> tuple[int, str, str]:
    """Press Ctrl-C a moment after the command has begun to write; return how it ended."""
    deadline = time.monotonic() + PATIENCE
    while len(names_in(place)) < expected and process.poll() is None:
        assert time.monotonic() < deadline, "the command never began"
        time.sleep(0.02)
    time.sleep(0.3)
    assert process.poll() is None, "the command was done before it could be interrupted"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


ENDING = (130, "", "blender-dp: interrupted; nothing was written\n")


def test_an_interrupted_run_leaves_nothing(script: Start, long_log: Path, place: Path) -> None:
    process = script("run", long_log, *PROMISE, "--group=side", "-o", place / "out")
    assert interrupt(process, place) == ENDING
    assert names_in(place) == []


def test_an_interrupted_run_keeps_the_earlier_result(
    script: Start, long_log: Path, place: Path
) -> None:
    out = place / "out"
    out.mkdir()
    (out / "run.json").write_text("{}")
    process = script("run", long_log, *PROMISE, "--opt-in=0.5", "--overwrite", "-o", out)
    assert interrupt(process, place, expected=2) == ENDING
    assert names_in(place) == ["out"]
    assert (out / "run.json").read_text() == "{}"


def test_an_interrupted_log_is_not_there(script: Start, place: Path) -> None:
    process = script("synth", "--shape=zipf", "--users=6000000", "-o", place / "log.csv")
    assert interrupt(process, place) == ENDING
    assert names_in(place) == []


def test_ctrl_c_twice_ends_a_reproduction_and_leaves_nothing(
    script: Start, core_environment: dict[str, str], tmp_path: Path, place: Path
) -> None:
    log = tmp_path / "aol.txt"
    write_aol(synthesize(Shape.AOL, users=20_000, seed=0), log)
    process = script(
        *("reproduce", "--workers=2", "--log", log, "--format=aol", "-o", tmp_path / "out"),
        env={**core_environment, "TMPDIR": str(place)},
        start_new_session=True,
    )
    until(lambda: any(place.glob("blender-dp-*/*.npy")), process)  # the log, for its workers
    for _ in range(2):  # to all of its processes, as a terminal sends it
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", f"blender-dp: {reproduce.KEPT}\n")
    assert names_in(place) == []
    until(lambda: not is_running(process.pid))


def until(happened: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until something happened, while the process runs."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        assert process is None or process.poll() is None, "the command was done before"
        time.sleep(0.02)


def is_running(group: int) -> bool:
    """Tell whether a group of processes has a process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("name", ["--help", "privatize"])
def test_a_reader_who_leaves_is_no_failure(script: Start, head_list: Path, name: str) -> None:
    options = {
        "--help": list[str](),
        "privatize": [str(head_list), "--record", "q", "u"],
    }
    reader, writer = os.pipe()
    os.close(reader)
    process = script(name, *options[name], stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")


def test_progress_is_shown_on_a_terminal_and_not_among_the_results(
    script: Start, log: Path, place: Path
) -> None:
    terminal, stderr = pty.openpty()
    process = script("run", log, *PROMISE, "--opt-in=0.5", "-o", place / "out", stderr=stderr)
    os.close(stderr)
    shown = b""
    while chunk := read_some(terminal):  # while it runs: a full terminal would make it wait
        shown += chunk
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(terminal)
    assert process.returncode == 0
    for step in ("read the log", "CreateHeadList", "EstimateClientProbabilities"):
        assert step in shown.decode()
        assert step not in out


def read_some(terminal: int) -> bytes:
    """Return what a terminal shows next; nothing when its writer is gone."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
