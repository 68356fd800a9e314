"""What a run writes: these files, with these columns, that agree with each other."""

import math
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from end_to_end.conftest import PROMISE, SIDES, BlenderDp

from blender_dp.wire.published.head_list import head_list_digest, read_head_list

FILES = {
    *("records.parquet", "records.csv", "queries.parquet", "queries.csv"),
    *("head_list.json", "release.json", "report.html", "run.json"),
}
NUMBERS = (
    *("probability", "std_error", "low", "high"),
    *("opt_in_probability", "client_probability", "opt_in_weight"),
)
ReadJson = Callable[[Path], Any]
TABLES = ("records", "queries")


def table(result: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(result / f"{name}.parquet").to_pylist()
    return rows


def test_exactly_the_stated_files_are_written(result: Path, private_result: Path) -> None:
    for directory in (result, private_result):
        assert {path.name for path in directory.iterdir()} == FILES
        assert {path.name for path in directory.parent.iterdir()} == {directory.name}


@pytest.mark.parametrize(
    ("name", "texts"), [("records", ("cell", "query", "url")), ("queries", ("cell", "query"))]
)
def test_the_columns_are_the_stated_ones(result: Path, name: str, texts: tuple[str, ...]) -> None:
    schema = pq.read_schema(result / f"{name}.parquet")
    assert schema.names[: len(texts) + len(NUMBERS)] == [*texts, *NUMBERS]
    assert {schema.field(column).type for column in texts} == {pa.string()}
    assert {schema.field(column).type for column in NUMBERS} == {pa.float64()}


@pytest.mark.parametrize("name", TABLES)
def test_csv_and_parquet_say_the_same(result: Path, name: str) -> None:
    expected = pq.read_table(result / f"{name}.parquet")
    types = {field.name: field.type for field in expected.schema}
    options = pa.csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    assert pa.csv.read_csv(result / f"{name}.csv", convert_options=options).equals(expected)


def test_a_row_says_what_it_stands_for_and_a_star_has_no_name(result: Path) -> None:
    rows = table(result, "records")
    named = {"record": (True, True), "other_url": (True, False), "other": (False, False)}
    for row in rows:
        assert (row["query"] is not None, row["url"] is not None) == named[row["cell"]]
    head_list = read_head_list(result / "head_list.json")
    kinds = [row["cell"] for row in rows]
    assert kinds.count("record") == len(head_list.records())
    assert kinds.count("other_url") == len(head_list.queries)
    assert kinds.count("other") == 1
    assert {(row["query"], row["url"]) for row in rows if row["cell"] == "record"} == set(
        head_list.records()
    )
    queries = table(result, "queries")
    assert {row["query"] for row in queries if row["cell"] == "query"} == set(head_list.queries)
    assert [row["query"] for row in queries if row["cell"] == "other"] == [None]


@pytest.mark.parametrize("name", TABLES)
def test_probabilities_are_a_distribution_sorted_by_size(result: Path, name: str) -> None:
    probabilities = [row["probability"] for row in table(result, name)]
    assert math.fsum(probabilities) == pytest.approx(1, abs=1e-12)
    assert min(probabilities) >= 0
    rows = [row for row in table(result, name) if row["cell"] in ("record", "query")]
    listed = [row["probability"] for row in rows]
    assert listed == sorted(listed, reverse=True)
    assert probabilities[: len(listed)] == listed, "what is not listed comes last"


@pytest.mark.parametrize("name", TABLES)
def test_intervals_lie_around_the_estimate_within_what_is_possible(result: Path, name: str) -> None:
    for row in table(result, name):
        if row["std_error"] is None:
            assert row["low"] is row["high"] is None
            continue
        reach = 1.959963984540054 * row["std_error"]
        width = row["high"] - row["low"]
        assert width <= 2.5 * reach  # a score interval is wider than the normal one, not by much
        assert row["low"] <= row["probability"] <= row["high"]
        assert 0 <= row["low"] <= row["high"] <= 1


def test_the_most_popular_query_of_the_log_comes_first(result: Path) -> None:
    first, *_, last = table(result, "queries")
    assert last["cell"] == "other"
    assert first["query"] == "google"
    assert first["low"] < 0.0211 < first["high"] + 0.01


def test_the_run_tells_how_it_was_made(result: Path, read_json: ReadJson) -> None:
    run = read_json(result / "run.json")
    assert run["parameters"] == {
        "epsilon": 4.0,
        "delta": 1e-4,
        "head_list_size": 30,
        "preset": "sharp",
        "one_record_each": False,
        "head_list_user_fraction": 0.95,
        "query_budget_fraction": 0.85,
        "records_per_optin_user": 1,
        "records_per_client": 1,
        "project": True,
    }
    assert run["users"] == {"opt_in": 4000, "clients": 16_000}
    assert run["input"] == {"format": "csv", "files": ["log.csv"]}
    assert (run["seed"], run["opt_in"], run["synthetic"]) == (7, 0.2, False)
    for software in ("blender-dp", "duckdb", "narwhals", "numpy", "pyarrow", "cryptography"):
        assert run["software"][software] == version(software)
    assert run["certificate"]["verdict"] == "kept"
    assert run["certificate"] == read_json(result / "release.json")["certificate"]


def test_a_large_delta_is_warned_of(
    blender_dp: BlenderDp,
    log: Path,
    result: Path,
    tmp_path: Path,
    read_json: ReadJson,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "is large for 20,000 users" in read_json(result / "run.json")["notes"][0]
    for delta, is_warned in (("1e-4", True), ("1e-7", False)):
        promise = ("--epsilon=4", f"--delta={delta}", "--clients=0")
        blender_dp("head-list", log, *promise, "-o", tmp_path / delta)
        said = " ".join(capsys.readouterr().err.split())
        assert ("is large for 20,000 users" in said) == is_warned


def test_the_run_tells_what_it_cost_only_if_asked(
    blender_dp: BlenderDp, log: Path, result: Path, tmp_path: Path, read_json: ReadJson
) -> None:
    assert "timings" not in read_json(result / "run.json")
    blender_dp("run", log, *PROMISE, *SIDES, "--seed=7", "--timings", "-o", tmp_path / "out")
    run = read_json(tmp_path / "out" / "run.json")["timings"]
    assert "without noise" in run["remark"]
    assert "without noise" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    steps = ("CreateHeadList", "EstimateOptinProbabilities", "EstimateClientProbabilities")
    assert {*steps, "BlendProbabilities"} < set(run["seconds"])
    assert len(run["seconds"]) == 5
    assert all(0 <= seconds < 600 for seconds in run["seconds"].values())
    assert 10**7 < run["peak_memory_bytes"] < 10**11
    assert run["memory_limit_bytes"] >= 64 << 20


def test_a_seed_is_marked_as_not_private_everywhere(
    result: Path, private_result: Path, read_json: ReadJson
) -> None:
    for directory, private in ((result, False), (private_result, True)):
        for name in ("head_list.json", "release.json", "run.json"):
            assert read_json(directory / name)["private"] is private
        page = (directory / "report.html").read_text(encoding="utf-8")
        assert ('"private":false' in page) is not private
    assert read_json(private_result / "run.json")["seed"] is None


def test_the_release_holds_the_same_rows_and_names_its_list(
    result: Path, read_json: ReadJson
) -> None:
    release = read_json(result / "release.json")
    for name in TABLES:
        rows = table(result, name)
        assert release[name] == sorted(rows, key=lambda row: -row["probability"])
    assert release["head_list"] == head_list_digest(read_head_list(result / "head_list.json"))
    assert release["promise"] == {"epsilon": 4.0, "delta": 1e-4}
