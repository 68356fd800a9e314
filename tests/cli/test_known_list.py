"""``--known``: a list that cannot be used is refused before anything is read."""

from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused, names_in

from logs import PLANTED

COMMANDS = [("run", ["--opt-in=0.5"]), ("head-list", [])]


@pytest.mark.parametrize(("name", "sides"), COMMANDS)
def test_the_algorithm_as_printed_takes_no_known_list(
    command: Command, log: Path, place: Path, tmp_path: Path, name: str, sides: list[str]
) -> None:
    known = tmp_path / "known.csv"
    known.write_text(f"query,url\n{PLANTED},u\n", encoding="utf-8")
    options = (*PROMISE, *sides, "--preset=paper", f"--known={known}")
    outcome = command(name, log, *options, "-o", place / "out")
    assert_refused(outcome, "--known: known must be left out with the preset paper")
    assert names_in(place) == []


@pytest.mark.parametrize("content", ["word\na\n", f"query,url\n{PLANTED}\n"])
def test_a_bad_known_list_is_refused(
    command: Command, log: Path, place: Path, tmp_path: Path, content: str
) -> None:
    known = tmp_path / "known.csv"
    known.write_text(content, encoding="utf-8")
    for name, sides in COMMANDS:
        outcome = command(name, log, *PROMISE, *sides, f"--known={known}", "-o", place / "out")
        assert_refused(outcome, "known.csv")
    assert names_in(place) == []
