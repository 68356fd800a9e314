"""A large ε is told, and one that is clearly a slip is refused without ``--yes``."""

from pathlib import Path

import pytest
from cli.outcomes import Command, assert_refused, names_in, remarks

from blender_dp.cli.guard_rails import epsilon_warning

DELTA = "--delta=1e-4"


@pytest.mark.parametrize("name", ["run", "head-list"])
def test_a_large_epsilon_is_told_after_the_result(
    command: Command, log: Path, place: Path, name: str
) -> None:
    sides = ["--opt-in=0.5"] if name == "run" else ["--clients=100"]
    said = command(name, log, "--epsilon=12", DELTA, *sides, "-o", place / "large")
    assert said.status == 0, said
    warning = epsilon_warning(12.0)
    assert warning == (
        "ε = 12 is large. What is released may be 1.6e+05 times as likely with a person's data as "
        "without; choose at most 10."
    )
    assert warning in remarks(said)
    usual = command(name, log, "--epsilon=10", DELTA, *sides, "-o", place / "usual")
    assert "ε = 10 is large" not in usual.err


@pytest.mark.parametrize("name", ["run", "head-list"])
def test_an_epsilon_that_is_a_slip_needs_a_yes(
    command: Command, log: Path, place: Path, name: str
) -> None:
    sides = ["--opt-in=0.5"] if name == "run" else ["--clients=100"]
    arguments = (name, log, "--epsilon=400", DELTA, *sides, "-o", place / "out")
    assert_refused(command(*arguments), "--epsilon", "at most 50, unless --yes", "400")
    assert names_in(place) == []
    outcome = command(*arguments, "--yes")
    assert outcome.status == 0, outcome
    assert "10²¹ and more times as likely" in outcome.err
