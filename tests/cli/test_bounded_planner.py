"""A question to a service's planner has a process, a time and a memory of its own."""

import json
import subprocess
import sys
from typing import Any

import pytest

from blender_dp.cli.bounded_planner import BoundedPlanner
from blender_dp.core.errors import BlenderError, BrokenInvariantError
from blender_dp.service.dependencies import TooMuchWorkError

QUESTION = {"users": 2_000, "epsilon": 4, "delta": 1e-3}
ENDLESS = "import time; time.sleep(600)"


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Return the processes that are started, as they are."""
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def starting(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*args, **options))
        return started[-1]

    monkeypatch.setattr("blender_dp.cli.bounded_planner.subprocess.Popen", starting)
    return started


def planner_of(code: str, seconds: float = 60.0) -> BoundedPlanner:
    return BoundedPlanner(command=(sys.executable, "-c", code), seconds=seconds)


def test_a_question_is_answered_by_another_process() -> None:
    answer = BoundedPlanner(seconds=600)(QUESTION)
    assert (answer["format"], answer["like"]) == ("blender-dp plan", "aol")


def test_a_relay_is_predicted_at_the_cap_of_the_question() -> None:
    planner = BoundedPlanner(seconds=600)
    answer = planner({**QUESTION, "relay": 1.0, "relay_cap": 4.5})
    assert (answer["relay_rules"]["share"], answer["relay_rules"]["epsilon_cap"]) == (1.0, 4.5)
    usual = planner({**QUESTION, "relay": 1.0})
    assert usual["relay_rules"]["epsilon_cap"] == 8.0


def test_a_known_list_is_predicted_with_the_preset_that_takes_one() -> None:
    planner = BoundedPlanner(seconds=600)
    answer = planner({**QUESTION, "known": True})
    assert answer["known_list"] is True
    assert (
        "The list of an earlier collection of the same kind is taken for known."
        in (answer["remarks"])
    )
    with pytest.raises(BlenderError):
        planner({**QUESTION, "known": True, "preset": "paper"})


def test_what_takes_too_long_is_ended(processes: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(TooMuchWorkError):
        planner_of(ENDLESS, seconds=0.05)(QUESTION)
    [process] = processes
    assert process.returncode is not None
    assert process.returncode < 0


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", TooMuchWorkError),
        ("import sys; sys.exit(3)", TooMuchWorkError),
        ("print('null')", BlenderError),
        ("import sys; sys.exit(1)", BrokenInvariantError),
    ],
    ids=["ended by the kernel", "out of memory", "outside of what is answered", "a mistake"],
)
def test_each_end_of_the_process_has_its_error(code: str, error: type[Exception]) -> None:
    with pytest.raises(error) as raised:
        planner_of(code)(QUESTION)
    assert type(raised.value) is error


def test_the_process_ends_with_the_service_that_asked() -> None:
    endless = {"users": 10**9, "epsilon": 4, "delta": 1e-5, "opt_in": 0.5}
    process = subprocess.Popen(
        [sys.executable, "-m", "blender_dp.cli.plan_process", json.dumps(endless)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=60) != 0
    finally:
        process.kill()
        process.wait()
