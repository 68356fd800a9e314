"""Statements of the paper as a file: well-formed, and each answered by code."""

import json
from pathlib import Path
from typing import Any

import pytest

from blender_dp.evaluation.reproduction.figures import FIGURES, Figure
from blender_dp.evaluation.reproduction.published import published, published_file
from blender_dp.evaluation.reproduction.sweeps import SETUPS, DataShape

FIGURES_STATED = json.loads(published_file().read_text(encoding="utf-8"))


def test_it_lies_where_a_reader_looks_for_it() -> None:
    assert published_file() == Path(__file__).parents[3] / "reproduction" / "published.json"


@pytest.mark.parametrize("document", FIGURES_STATED, ids=lambda document: document["name"])
def test_every_statement_says_where_it_was_read_and_how(document: dict[str, Any]) -> None:
    assert document["label"].startswith(("fig:", "table:"))
    for statement in document["statements"]:
        assert set(statement) - {"mark"} == {"id", "shapes", "says", "where", "read"}
        assert set(statement["shapes"]) <= set(SETUPS)
        assert statement["where"].startswith(("Section ", "Fig. "))
        assert statement["says"].endswith((".", ")"))
        if "mark" in statement:
            numbers = set(statement["mark"]) - {"panel", "label"}
            assert numbers in ({"x"}, {"above"}, {"below"}, {"x", "y"})


def test_every_figure_of_the_evaluation_has_its_file_and_its_code() -> None:
    assert list(published()) == list(range(8, 20))
    assert [figure.number for figure in FIGURES if figure.number] == list(range(8, 20))
    names = [figure.name for figure in published().values()]
    assert names == [figure.name for figure in FIGURES if figure.number]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_statement_is_answered_by_one_claim(figure: Figure) -> None:
    stated = published()[figure.number].statements if figure.number else ()
    answered = sorted(claim.statement for claim in figure.claims)
    assert answered == sorted(statement.id for statement in stated)


def test_the_four_claims_on_top_are_those_of_the_text() -> None:
    top = {c.statement for figure in FIGURES for c in figure.claims if c.is_headline}
    assert top == {
        *("above-95-at-5-percent", "l1-below-both-groups", "client-ndcg-peak", "clients-dominate")
    }


@pytest.mark.parametrize("shape", SETUPS)
def test_our_settings_start_from_the_papers_table(shape: DataShape) -> None:
    setting = SETUPS[shape].setting()
    ours = {**setting.parameters.document(), "opt_in": setting.opt_in}
    theirs = published()[11].table[shape]
    assert {name: ours[name] for name in theirs} == theirs
