"""``blender-dp reproduce`` on a real log's layout, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.outcomes import Command, assert_refused, names_in

from blender_dp.cli import reproduce
from blender_dp.engine.synthetic import Shape, synthesize, write_aol
from blender_dp.evaluation.reproduction.figures import FIGURES

FEW = ("8", "qin-comparison", "--quick", "--workers=1")


@pytest.fixture(scope="module")
def aol(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files in the layout of AOL's log."""
    folder = tmp_path_factory.mktemp("aol")
    write_aol(synthesize(Shape.AOL, users=3_000, seed=0), folder / "user-ct-test-collection-01.txt")
    return folder


def test_a_real_log_in_a_folder_is_picked_up(command: Command, aol: Path, place: Path) -> None:
    out = place / "out"
    arguments = ("reproduce", *FEW, "--log", aol, "--format", "aol", "-o", out)
    first = command(*arguments)
    assert (first.status, first.err) == (0, "45 trials were run; they are stored.\n")
    assert first.out.startswith("Real data: the log given, 3,000 users; preset paper.\n")
    assert "Fig. 8: does not hold" in first.out
    assert first.out.endswith(f"page: {out / 'index.html'}\n")
    figures = ("fig-08-dataset-statistics", "fig-12-qin-comparison")
    expected = {f"{stem}{end}" for stem in figures for end in (".svg", ".png", ".csv")}
    expected |= {"fig-08-dataset-statistics.md", "index.html", "reproduction.json", "trials.jsonl"}
    assert set(names_in(out)) == expected
    page = (out / "index.html").read_text()
    assert "Real data" in page
    assert "SYNTHETIC" not in page
    again = command(*arguments)
    assert again.err == "All trials had been run before. Nothing was left to do.\n"
    assert again.out == first.out


def test_json_is_one_object_that_says_what_the_data_was(
    command: Command, aol: Path, place: Path
) -> None:
    arguments = ("11", "--log", aol, "--format", "aol", "--json", "-o", place / "out")
    outcome = command("reproduce", *arguments)
    document = json.loads(outcome.out)
    assert (document["synthetic"], document["preset"]) == (False, "paper")
    assert document["claims"][0]["verdict"] == "holds"
    assert document["output"] == str(place / "out")


def test_the_place_is_named_after_the_data(
    command: Command, aol: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    assert command("reproduce", "11", "--log", aol).status == 0
    assert command("reproduce", "11", "--log", aol, "--shape", "yandex").status == 0
    assert names_in(place) == ["reproduction-aol-log", "reproduction-yandex-log"]


def test_a_figure_that_is_not_there_is_refused_with_those_that_are(
    command: Command, place: Path
) -> None:
    for wrong in ("7", "20", "budget", ""):
        outcome = command("reproduce", wrong, "-o", place / "out")
        assert_refused(outcome, "--figure", *(figure.name for figure in FIGURES))
    assert names_in(place) == []


def test_what_lies_in_the_way_is_left_alone(command: Command, aol: Path, place: Path) -> None:
    (place / "mine.txt").write_text("mine")
    outcome = command("reproduce", "11", "--log", aol, "-o", place)
    assert_refused(outcome, "mine.txt")
    assert names_in(place) == ["mine.txt"]


@pytest.mark.parametrize(
    "wrong",
    ["--shape=zipf", "--workers=0", "--group=side", "--preset=blunt", "--memory-limit=1MB"],
)
def test_a_wrong_argument_is_refused(command: Command, aol: Path, place: Path, wrong: str) -> None:
    outcome = command("reproduce", "11", "--log", aol, wrong, "-o", place / "out")
    assert_refused(outcome, wrong.partition("=")[0])


def test_without_the_extra_the_way_to_get_it_is_said(
    command: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "is_installed", lambda _: False)
    outcome = command("reproduce", "11", "-o", place / "out")
    assert_refused(outcome, "reproduce", "pip install 'blender-dp[evaluation]'")
    assert names_in(place) == []


def test_an_interruption_says_that_trials_are_kept(
    command: Command, aol: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "write_outputs", interrupt)
    arguments = ("reproduce", "12", "--quick", "--workers=1", "--log", aol, "-o", place / "out")
    outcome = command(*arguments)
    assert outcome.status == 130
    assert "finished trials are stored" in outcome.err
    monkeypatch.undo()
    assert command(*arguments).err.startswith("All trials had been run before.")
