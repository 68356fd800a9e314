"""``docs/explanation/threat-model.md`` is true: every attack names tests, and they exist."""

import re
from pathlib import Path

import pytest
from repository.named_tests import ROOT, require_test

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


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split(" | ")[0].strip("| "))
def test_every_attack_names_tests_that_exist(row: str) -> None:
    *_, tests = row.strip("| ").split(" | ")
    named = NAMED.findall(tests)
    assert named, "no test"
    for test in named:
        require_test(test)


def test_a_row_without_a_test_would_be_noticed() -> None:
    [row] = attacks_in("## Attacks\n\n| attack | x | test |\n|---|---|---|\n| a | b | none |\n")
    with pytest.raises(AssertionError, match="no test"):
        test_every_attack_names_tests_that_exist(row)
