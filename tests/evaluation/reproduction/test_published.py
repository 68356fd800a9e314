"""What is stated in the paper, as files: well-formed, and each statement answered by code."""

import json
from pathlib import Path

import pytest

from blender_dp.evaluation.reproduction.figures import FIGURES, Figure
from blender_dp.evaluation.reproduction.published import published, published_folder
from blender_dp.evaluation.reproduction.sweeps import SETUPS, DataShape

FILES = sorted(published_folder().glob("*.json"))


def test_they_lie_where_a_reader_looks_for_them() -> None:
    assert published_folder() == Path(__file__).parents[3] / "reproduction" / "published"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_statement_says_where_it_was_read_and_how(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert path.stem.startswith(f"{document['figure']:02d}-")
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
    names = [path.stem.partition("-")[2] for path in FILES]
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
