"""The list of ``make mutants`` is current: every change can be made, every test it names exists."""

from mutants.catalogue import ROOT, Mutant, all_mutants, chosen
from repository.named_tests import faults_of


def faults_in(mutant: Mutant) -> list[str]:
    """Return what keeps a mutant from being made or seen."""
    try:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        faults = [] if mutant.changed(text) != text else ["`old` and `new` are the same"]
    except (OSError, ValueError) as error:
        faults = [str(error)]
    faults += [] if mutant.tests else ["no test"]
    return faults + [fault for test in mutant.tests for fault in faults_of(test)]


def test_every_mutant_can_be_made_and_names_tests_that_exist() -> None:
    faults = {f"{one.subject}: {one.why}": faults_in(one) for one in all_mutants()}
    assert {mutant: found for mutant, found in faults.items() if found} == {}


def test_no_two_mutants_have_the_same_reason() -> None:
    reasons = [f"{mutant.subject}: {mutant.why}" for mutant in all_mutants()]
    assert sorted(set(reasons)) == sorted(reasons)


def test_words_select_mutants() -> None:
    assert chosen([]) == all_mutants()
    selected = chosen(["noise", "scalars"])
    assert selected
    assert all("scalars" in mutant.why for mutant in selected)
    assert chosen(["no mutant has this word"]) == []
