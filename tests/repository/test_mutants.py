"""The list of ``make mutants`` is current: every change can be made, every test it names exists."""

import pytest
from mutants.catalogue import ROOT, Mutant, all_mutants, chosen
from repository.named_tests import require_test


@pytest.mark.parametrize(
    "mutant", all_mutants(), ids=lambda mutant: f"{mutant.subject}-{mutant.why}"
)
def test_a_mutant_can_be_made_and_names_tests_that_exist(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert mutant.changed(text) != text, "`old` and `new` are the same"
    assert mutant.tests
    for test in mutant.tests:
        require_test(test)


def test_no_two_mutants_have_the_same_reason() -> None:
    reasons = [f"{mutant.subject}: {mutant.why}" for mutant in all_mutants()]
    assert sorted(set(reasons)) == sorted(reasons)


def test_words_select_mutants() -> None:
    assert chosen([]) == all_mutants()
    selected = chosen(["noise", "scalars"])
    assert selected
    assert all("scalars" in mutant.why for mutant in selected)
    assert chosen(["no mutant has this word"]) == []
