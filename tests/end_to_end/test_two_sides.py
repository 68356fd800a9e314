"""Curator, clients and collector each with their own files: together the same kind of result."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from end_to_end.conftest import PROMISE, SIDES, USERS, BlenderDp

from blender_dp.core.parameters import Preset
from blender_dp.wire.published.head_list import head_list_digest, read_head_list
from logs import GROUPED_HEADER, HEADER, Row, write_csv

OPT_IN_USERS = USERS // 5


@pytest.fixture(scope="session")
def rows(log: Path) -> Sequence[Row]:
    with log.open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


def opted_in(row: Row) -> bool:
    """Users are numbered; every fifth opted in."""
    return int(row[0]) % 5 == 0


@pytest.fixture(scope="session")
def sides(rows: Sequence[Row], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return one log with a group column, and one log for each side."""
    folder = tmp_path_factory.mktemp("sides")
    grouped = [(*row, "opt-in" if opted_in(row) else "client") for row in rows]
    return {
        "both": write_csv(folder / "both.csv", grouped, GROUPED_HEADER),
        "opt-in": write_csv(folder / "o.csv", [row for row in rows if opted_in(row)], HEADER),
        "client": write_csv(folder / "c.csv", [row for row in rows if not opted_in(row)], HEADER),
    }


Pipeline = Callable[..., Path]


@pytest.fixture
def pipeline(blender_dp: BlenderDp, tmp_path: Path) -> Pipeline:
    """Return a function that runs the steps one by one on files."""

    def run(opt_in: Path, clients: Path, *options: str, preset: Preset = "sharp") -> Path:
        curated, reports = tmp_path / "curated", tmp_path / "reports.parquet"
        head_list = curated / "head_list.json"
        limits = (*PROMISE, SIDES[1])
        blender_dp("head-list", opt_in, *limits, f"--preset={preset}", *options, "-o", curated)
        blender_dp("privatize", head_list, clients, *options, "-o", reports)
        blender_dp("estimate", head_list, reports, "-o", tmp_path / "clients.json")
        estimates = (curated / "opt_in_estimates.json", tmp_path / "clients.json")
        blender_dp("blend", head_list, *estimates, "-o", tmp_path / "out")
        return tmp_path / "out"

    return run


def check_blended(out: Path, run: Any, result: Path, *, private: bool) -> None:
    """Look at a blended result as at that of one run over the same people."""
    assert {path.name for path in out.iterdir()} == {path.name for path in result.iterdir()}
    assert run["private"] is private
    assert sum(run["users"].values()) == USERS
    assert run["users"]["clients"] == USERS - OPT_IN_USERS
    if run["parameters"]["preset"] == "paper":
        assert run["users"]["opt_in_discovery"] == round(0.95 * OPT_IN_USERS)
    else:
        assert run["users"]["opt_in"] == OPT_IN_USERS
    columns = (out / "records.csv").read_text(encoding="utf-8").splitlines()[0]
    assert columns == (result / "records.csv").read_text(encoding="utf-8").splitlines()[0]
    assert '"google"' in (out / "queries.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("preset", get_args(Preset))
def test_two_logs_one_for_each_side(
    pipeline: Pipeline,
    sides: dict[str, Path],
    result: Path,
    read_json: Callable[[Path], Any],
    preset: Preset,
) -> None:
    out = pipeline(sides["opt-in"], sides["client"], preset=preset)
    check_blended(out, read_json(out / "run.json"), result, private=True)


def test_one_log_whose_group_column_tells_the_sides(
    pipeline: Pipeline, sides: dict[str, Path], result: Path, read_json: Callable[[Path], Any]
) -> None:
    out = pipeline(sides["both"], sides["both"], "--group=side", "--seed=3")
    check_blended(out, read_json(out / "run.json"), result, private=False)


def test_a_run_with_a_group_column_takes_the_groups_from_it(
    blender_dp: BlenderDp,
    sides: dict[str, Path],
    tmp_path: Path,
    result: Path,
    read_json: Callable[[Path], Any],
) -> None:
    out = tmp_path / "out"
    blender_dp("run", sides["both"], "--group=side", *PROMISE, SIDES[1], "-o", out)
    run = read_json(out / "run.json")
    check_blended(out, run, result, private=True)
    assert run["opt_in"] is None


@pytest.mark.parametrize("preset", get_args(Preset))
def test_the_steps_apart_give_the_numbers_of_the_curators_file(
    pipeline: Pipeline, sides: dict[str, Path], read_json: Callable[[Path], Any], preset: Preset
) -> None:
    out = pipeline(sides["opt-in"], sides["client"], preset=preset)
    opt_in = read_json(out.with_name("curated") / "opt_in_estimates.json")
    clients = read_json(out.with_name("clients.json"))
    records = read_json(out / "release.json")["records"]
    noisy = [row["opt_in_noisy_count"] for row in records]
    released = opt_in["noisy_counts"] if preset == "paper" else opt_in["tally"]["sums"]
    assert sorted(n for n in noisy if n is not None) == sorted(released)
    counted = [row["client_report_count"] for row in records]
    assert sorted(counted) == sorted(clients["report_counts"])
    reports = clients.get("reports", sum(counted)) + clients.get("query_reports", 0)
    assert reports == USERS - OPT_IN_USERS


def test_devices_report_one_by_one(
    blender_dp: BlenderDp,
    sides: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    promise = (*PROMISE, "--preset=paper")
    blender_dp("head-list", sides["opt-in"], *promise, "-o", tmp_path / "curated")
    head_list = tmp_path / "curated" / "head_list.json"
    published = read_head_list(head_list)
    capsys.readouterr()
    records = [*published.records()[:5], ("google", "unlisted.example"), ("", ""), ("★", "*")]
    for query, url in records * 3:
        blender_dp("privatize", head_list, "--record", query, url)
    captured = capsys.readouterr()
    assert captured.err == ""
    reports = [json.loads(line) for line in captured.out.splitlines()]
    assert len(reports) == 3 * len(records)
    for report in reports:
        assert set(report) == {"version", "head_list", "mechanism", "cell"}
        assert report["head_list"] == head_list_digest(published)
        assert 0 <= report["cell"] < published.cells.cell_count
    (tmp_path / "reports.jsonl").write_text(captured.out, encoding="utf-8")
    reports_file, clients = tmp_path / "reports.jsonl", tmp_path / "clients.json"
    blender_dp("estimate", head_list, reports_file, "-o", clients)
    estimates = (tmp_path / "curated" / "opt_in_estimates.json", clients)
    blender_dp("blend", head_list, *estimates, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "report.html").is_file()
