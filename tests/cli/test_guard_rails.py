"""A promise that is hardly one, and opt-in users who are too few, need ``--yes``."""

from pathlib import Path

import pytest
from cli.outcomes import Command, Outcome, assert_refused, names_in, remarks

from blender_dp.core.certificate.doubts import epsilon_warning
from logs import popular_rows, write_csv

USERS = 800
COMMANDS = pytest.mark.parametrize("name", ["run", "head-list"])
SOUND = ("--epsilon=9", "--delta=1e-5")
"""Nothing to doubt for the users of ``many``."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log with enough opt-in users, if half of them opt in."""
    return write_csv(tmp_path_factory.mktemp("many") / "log.csv", popular_rows(users=USERS))


def sides(name: str) -> list[str]:
    return ["--opt-in=0.5"] if name == "run" else ["--clients=100"]


def doubts(said: Outcome) -> list[str]:
    """Return the remarks on the promise. That groups alike differ is said of one run in 100."""
    drift = "Opt-in users and clients differ"
    return [line for line in remarks(said) if not line.startswith(drift)]


@COMMANDS
def test_a_sound_promise_needs_no_yes(
    cautious: Command, many: Path, place: Path, name: str
) -> None:
    said = cautious(name, many, *SOUND, *sides(name), "-o", place / "out")
    assert said.status == 0, said
    assert doubts(said) == []


@COMMANDS
def test_a_large_epsilon_needs_a_yes(cautious: Command, many: Path, place: Path, name: str) -> None:
    arguments = (name, many, "--epsilon=12", "--delta=1e-5", *sides(name), "-o", place / "out")
    warning = epsilon_warning(12.0)
    assert warning == (
        "ε = 12 is large. What is released may be 1.6e+05 times as likely with a person's data as "
        "without; choose at most 10."
    )
    assert_refused(cautious(*arguments), warning, "add --yes to go on")
    assert names_in(place) == []
    said = cautious(*arguments, "--yes")
    assert said.status == 0, said
    assert doubts(said) == [warning]


def test_a_large_epsilon_is_refused_before_the_log_is_read(cautious: Command, place: Path) -> None:
    promise = ("--epsilon=400", "--delta=1e-5", "--opt-in=0.5")
    said = cautious("run", place / "nowhere.csv", *promise, "-o", place / "out")
    assert_refused(said, "10²¹ and more times as likely")


@COMMANDS
def test_a_large_delta_needs_a_yes(cautious: Command, many: Path, place: Path, name: str) -> None:
    arguments = (name, many, "--epsilon=9", "--delta=0.01", *sides(name), "-o", place / "out")
    assert_refused(cautious(*arguments), "δ = 0.01 is large for", "add --yes to go on")
    assert names_in(place) == []
    said = cautious(*arguments, "--yes")
    assert said.status == 0, said
    assert "δ = 0.01 is large for" in said.err


def test_no_clients_are_made_up_for_the_doubt_about_delta(
    cautious: Command, many: Path, place: Path
) -> None:
    """Without ``--clients`` only the users of the log are counted."""
    said = cautious("head-list", many, "--epsilon=9", "--delta=0.01", "-o", place / "out")
    assert_refused(said, f"δ = 0.01 is large for {USERS} users")


@COMMANDS
@pytest.mark.parametrize("preset", ["sharp", "paper"])
def test_too_few_opt_in_users_need_a_yes(
    cautious: Command, many: Path, place: Path, name: str, preset: str
) -> None:
    promise = ("--epsilon=0.1", "--delta=1e-5", f"--preset={preset}")
    arguments = (name, many, *promise, *sides(name), "-o", place / "out")
    assert_refused(cautious(*arguments), "opt-in users are few", "add --yes to go on")
    assert names_in(place) == []
    assert cautious(*arguments, "--yes").status == 0
