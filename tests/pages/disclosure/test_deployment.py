"""Answers of an organisation are read strictly: a wrong one is a sentence that names it."""

from pathlib import Path

import pytest

import blender_dp as bdp
from blender_dp.pages.disclosure.deployment import read_deployment


def test_answers_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "about.toml"
    path.write_text('name = "Searches"\nsector = "Finance"\nauthors = ["A", "B"]\n')
    expected = bdp.Deployment(name="Searches", sector="Finance", authors=("A", "B"))
    assert read_deployment(path) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("name = ", "must be TOML"),
        ('nane = "x"', "field nane: must have no fields but name, curator"),
        ('sector = "Music"', "sector must be one of Technology, Healthcare"),
        ('authors = "one"', "field authors: must be a list of names"),
        ("name = 5", "name must be a text of 1 to 10,000 letters"),
        ('name = ""', "name must be a text of 1 to 10,000 letters"),
        ('name = "a\\u202eb"', "without invisible signs"),
        ("authors = [5]", "authors must be a text"),
    ],
)
def test_wrong_answers_are_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "about.toml"
    path.write_text(content)
    with pytest.raises(bdp.BlenderError) as refusal:
        read_deployment(path)
    assert str(refusal.value).startswith(str(path))
    assert said in str(refusal.value)
