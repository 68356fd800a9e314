"""Where results go: never over something else, never half, and nothing of a person's is lost."""

from inspect import signature
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused, names_in

from blender_dp.cli.demo import demo
from blender_dp.core.parameters import delta_warning
from logs import PLANTED, popular_rows, secret_rows, write_csv

RUN = (*PROMISE, "--opt-in=0.5")


@pytest.mark.parametrize("name", ["run", "head-list"])
def test_an_existing_directory_is_refused_and_untouched(
    command: Command, log: Path, place: Path, name: str
) -> None:
    out = place / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    sides = ["--opt-in=0.5"] if name == "run" else []
    outcome = command(name, log, *PROMISE, *sides, "-o", out)
    assert_refused(outcome, out, "exists already", "--overwrite")
    assert names_in(out) == ["mine.txt"]
    assert names_in(place) == ["out"]


def test_a_result_is_replaced_whole_when_asked(command: Command, log: Path, place: Path) -> None:
    out = place / "out"
    assert command("head-list", log, *PROMISE, "-o", out).status == 0
    assert command("run", log, *RUN, "-o", out, "--overwrite").status == 0
    assert "report.html" in names_in(out)
    assert "opt_in_estimates.json" not in names_in(out)
    assert names_in(place) == ["out"]


def test_an_earlier_result_outlives_a_failure(
    command: Command, log: Path, tmp_path: Path, place: Path
) -> None:
    out = place / "out"
    assert command("run", log, *RUN, "--seed=1", "-o", out).status == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    one_user = write_csv(tmp_path / "one.csv", secret_rows(1))
    assert_refused(command("run", one_user, *RUN, "-o", out, "--overwrite"))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert names_in(place) == ["out"]


def test_a_log_in_the_directory_that_is_replaced_is_not_lost(command: Command, place: Path) -> None:
    out = place / "out"
    out.mkdir()
    log = write_csv(out / "log.csv", popular_rows())
    content = log.read_bytes()
    command("run", log, *RUN, "-o", out, "--overwrite")
    assert log.read_bytes() == content


def test_the_demo_does_not_replace_what_is_no_demo(
    command: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its default directory is called demo, a name that people use."""
    monkeypatch.chdir(place)
    (place / "demo").mkdir()
    (place / "demo" / "mine.txt").write_text("mine")
    outcome = command("demo", "--users=500", "--delta=0.01")
    assert (place / "demo" / "mine.txt").read_text() == "mine"
    assert_refused(outcome, "demo")


def test_the_demo_does_not_warn_about_its_own_delta() -> None:
    defaults = {name: one.default for name, one in signature(demo).parameters.items()}
    assert delta_warning(defaults["delta"], defaults["users"]) is None


def test_the_demo_replaces_an_earlier_demo(
    command: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    for _ in range(2):
        outcome = command("demo", "--users=2000", "--delta=0.01")
        assert outcome.status == 0
        assert outcome.out.endswith("report: demo/report.html\n")
    assert names_in(place) == ["demo"]
    assert "report.html" in names_in(place / "demo")


@pytest.fixture
def inside(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current directory."""
    folder = place / "inside"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("out", [".", ".."])
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_a_directory_one_stands_in_is_refused(
    command: Command, log: Path, inside: Path, out: str, overwrite: list[str]
) -> None:
    (inside / "mine.txt").write_text("mine")
    outcome = command("run", log, *RUN, "-o", out, *overwrite)
    assert (inside / "mine.txt").read_text() == "mine"
    assert_refused(outcome, out)
    assert names_in(inside.parent) == ["inside"]


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_a_file_in_the_way_is_refused(
    command: Command, log: Path, place: Path, overwrite: list[str]
) -> None:
    out = place / "out"
    out.write_text("mine")
    assert_refused(command("run", log, *RUN, "-o", out, *overwrite), out)
    assert out.read_text() == "mine"
    assert names_in(place) == ["out"]


def test_a_failure_leaves_no_parent_directories(
    command: Command, tmp_path: Path, place: Path
) -> None:
    one_user = write_csv(tmp_path / "one.csv", secret_rows(1))
    assert_refused(command("run", one_user, *RUN, "-o", place / "a" / "b" / "out"))
    assert names_in(place) == []


@pytest.mark.parametrize("parent", ["a_file", "/proc"])
@pytest.mark.parametrize("name", ["run", "head-list", "demo"])
def test_a_directory_that_cannot_be_made_is_named(
    command: Command, log: Path, place: Path, parent: str, name: str
) -> None:
    (place / "a_file").write_text("mine")
    out = place / parent / "out"
    options: dict[str, list[str]] = {
        "run": [str(log), *RUN],
        "head-list": [str(log), *PROMISE],
        "demo": ["--users=500"],
    }
    assert_refused(command(name, *options[name], "-o", out), out)
    assert names_in(place) == ["a_file"]


def written_by(name: str, log: Path, reports: Path) -> list[str]:
    """Return the arguments of a command that writes one file, but for the file."""
    head_list = reports.with_name("head_list.json")
    options: dict[str, list[str]] = {
        "privatize": [str(head_list), str(log)],
        "estimate": [str(head_list), str(reports)],
        "synth": ["--users=500"],
    }
    return [name, *options[name]]


@pytest.mark.parametrize("parent", ["missing", "a_file", "/proc"])
@pytest.mark.parametrize("name", ["privatize", "estimate", "synth"])
def test_a_file_that_cannot_be_made_is_named(
    command: Command, log: Path, reports: Path, place: Path, parent: str, name: str
) -> None:
    (place / "a_file").write_text("mine")
    out = place / parent / "out.parquet"
    assert_refused(command(*written_by(name, log, reports), "-o", out), out)
    assert names_in(place) == ["a_file"]


@pytest.mark.parametrize("name", ["privatize", "estimate", "synth"])
def test_a_directory_in_the_place_of_a_file_is_named(
    command: Command, log: Path, reports: Path, place: Path, name: str
) -> None:
    out = place / "out.parquet"
    (out / PLANTED).mkdir(parents=True)
    assert_refused(command(*written_by(name, log, reports), "-o", out), out)
    assert names_in(place) == ["out.parquet"]
