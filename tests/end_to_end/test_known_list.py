"""A known list in ``run`` and in ``head-list``: the release before this one, or a table."""

import json
from pathlib import Path

import pytest
from end_to_end.conftest import PROMISE, BlenderDp

import blender_dp as bdp
from blender_dp.wire.published.head_list import read_head_list


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("known") / "known.csv"
    path.write_text("query,url\ngoogle,google.com\nnobody,asks.example\n", encoding="utf-8")
    return path


def test_a_run_knows_the_release_before_it(
    blender_dp: BlenderDp, log: Path, table: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    blender_dp("run", log, *PROMISE, "--opt-in=0.2", "--seed=1", f"--known={table}", "-o", first)
    facts = json.loads((first / "run.json").read_text(encoding="utf-8"))
    assert facts["known_records"] == 2
    release = first / "release.json"
    blender_dp("run", log, *PROMISE, "--opt-in=0.2", "--seed=2", f"--known={release}", "-o", second)
    listed = [
        {(row["query"], row["url"]) for row in json.loads(text)["records"] if row["url"]}
        for text in ((place / "release.json").read_text("utf-8") for place in (first, second))
    ]
    assert len(listed[0] & listed[1]) > 0.8 * len(listed[0])
    facts = json.loads((second / "run.json").read_text(encoding="utf-8"))
    assert facts["known_records"] == len(listed[0])
    blender_dp("certify", second)


def test_a_known_list_that_is_an_experiment_marks_the_result(
    blender_dp: BlenderDp, log: Path, tmp_path: Path
) -> None:
    seeded, private = tmp_path / "seeded", tmp_path / "private"
    blender_dp("run", log, *PROMISE, "--opt-in=0.2", "--seed=1", "-o", seeded)
    known = f"--known={seeded / 'release.json'}"
    blender_dp("run", log, *PROMISE, "--opt-in=0.2", known, "-o", private)
    assert json.loads((private / "release.json").read_text("utf-8"))["private"] is False


def test_the_curator_alone_knows_a_list_too(
    blender_dp: BlenderDp, log: Path, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "curated"
    blender_dp("head-list", log, *PROMISE, f"--known={table}", "-o", out)
    head_list = read_head_list(out / "head_list.json")
    tally = json.loads((out / "opt_in_estimates.json").read_text("utf-8"))["tally"]
    known = [r for r, was in zip(head_list.records(), tally["known"], strict=True) if was]
    assert set(known) <= set(bdp.read_known(table).records)
