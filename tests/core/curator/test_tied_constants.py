"""Constants of privacy proofs: each is defined once, and a plan beyond its proof is refused."""

import ast
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from core.given_answers import GivenAnswers

from blender_dp.core.certificate import opt_in
from blender_dp.core.create_head_list import sharp
from blender_dp.core.curator import budget, gaussian_plan
from blender_dp.core.curator.budget import Budget, Release
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.parameters import Parameters

SOURCE = Path(budget.__file__).parents[2]
BUDGET = Budget.of(Parameters(epsilon=4, delta=1e-5))


def test_a_plan_is_made_with_the_shares_of_the_budget() -> None:
    defaults = inspect.signature(gaussian_plan.gaussian_plan).parameters
    assert defaults["most"].default is budget.MOST_RECORDS
    assert defaults["estimation_share"].default is budget.ESTIMATION_SHARE
    assert defaults["scalar_share"].default is budget.SCALAR_SHARE


def test_the_longest_list_is_within_the_proof() -> None:
    """Each of K records may have a query of its own: K records, K times ⟨q,⋆⟩, and ⟨⋆,⋆⟩."""
    cells = 2 * budget.MOST_CANDIDATES + 1
    assert gaussian_plan.touched(32) == 64 + cells + 2 == 6067
    assert gaussian_plan.touched(budget.MOST_RECORDS) <= gaussian_plan.TOUCHED


def test_a_list_that_outgrows_the_proof_has_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    make_plan = inspect.unwrap(gaussian_plan.gaussian_plan)
    longest = (gaussian_plan.TOUCHED - 64 - 3) // 2
    monkeypatch.setattr(gaussian_plan, "MOST_CANDIDATES", longest)
    assert gaussian_plan.is_private(make_plan(BUDGET.rest, BUDGET.delta))
    monkeypatch.setattr(gaussian_plan, "MOST_CANDIDATES", longest + 1)
    with pytest.raises(BrokenInvariantError, match="could not be proved"):
        make_plan(BUDGET.rest, BUDGET.delta)


def test_discovery_keeps_no_more_than_the_plan_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    users = GivenAnswers(counts=(300,) * 9)
    parameters = Parameters(epsilon=4, delta=1e-5, one_record_each=True)
    monkeypatch.setattr(sharp, "MOST_CANDIDATES", 7)
    found = sharp.create_head_list(users, parameters, Randomness.seeded(1))
    assert len(found.head_list.records()) == 7


def test_a_line_is_certified_by_its_type_and_not_by_its_words() -> None:
    words = [line for line in BUDGET.ledger("laplace") if line.release is Release.SUMS]
    with pytest.raises(AssertionError):
        opt_in._line(replace(words[0], release=cast("Any", "sums ")), BUDGET)
    chosen = Budget.of(Parameters(epsilon=4, delta=1e-5, list_of="auto"))
    certified = [
        opt_in._line(line, chosen)
        for branch in get_args(budget.Branch)
        for line in chosen.ledger(branch)
    ]
    assert {part.release for part in certified} == {release.value for release in Release}


def test_a_name_has_one_definition() -> None:
    names = ["Branch", "ESTIMATION_SHARE", "MOST_CANDIDATES", "SCALAR_SHARE"]
    places = [
        (target.id, path.relative_to(SOURCE).as_posix())
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in names
    ]
    assert sorted(places) == [(name, "core/curator/budget.py") for name in names]
