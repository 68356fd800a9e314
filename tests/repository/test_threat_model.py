"""``docs/explanation/threat-model.md`` is true: every attack names tests, and they exist."""

import re
from pathlib import Path

from repository.named_tests import ROOT, faults_of

PAGE = Path("docs") / "explanation" / "threat-model.md"


def attacks_in(page: str) -> list[str]:
    """Return the rows of the tables below "Attacks"."""
    attacks = page.partition("## Attacks")[2].partition("## Not covered")[0]
    rows = [line for line in attacks.splitlines() if line.startswith("| ")]
    return [row for row in rows if not row.startswith("| attack |")]


ROWS = attacks_in((ROOT / PAGE).read_text(encoding="utf-8"))
NAMED = re.compile(r"`((?:tests|web)/[^`]+)`")


def test_there_are_attacks() -> None:
    assert len(ROWS) > 30


def faults_in(row: str) -> list[str]:
    """Return why the tests of a row do not cover its attack."""
    *_, tests = row.strip("| ").split(" | ")
    named = NAMED.findall(tests)
    return [fault for test in named for fault in faults_of(test)] if named else ["no test"]


def test_every_attack_names_tests_that_exist() -> None:
    faults = {row.split(" | ")[0].strip("| "): faults_in(row) for row in ROWS}
    assert {attack: found for attack, found in faults.items() if found} == {}


def test_a_row_without_a_test_would_be_noticed() -> None:
    [row] = attacks_in("## Attacks\n\n| attack | x | test |\n|---|---|---|\n| a | b | none |\n")
    assert faults_in(row) == ["no test"]
    assert faults_in("| a | b | `tests/none.py::test_x` |") == ["no file tests/none.py"]
