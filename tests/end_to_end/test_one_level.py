"""Records of one level, such as words: no second column goes in, and none comes out."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import blender_dp as bdp
from logs import write_csv

PARAMETERS = bdp.Parameters(epsilon=4, delta=1e-4)
ROWS = [(f"{i}", "" if i % 10 == 9 else f"word {i % 3}") for i in range(600)]
BlenderDp = Callable[..., None]


@pytest.fixture(scope="module")
def result() -> bdp.RunResult:
    users, words = zip(*ROWS, strict=True)
    table = pa.table({"user": list(users), "word": list(words)})
    return bdp.run(table, PARAMETERS, query="word", url=None, opt_in=0.4, seed=7)


def test_tables_have_one_row_a_word(result: bdp.RunResult) -> None:
    assert result.head_list.has_one_level
    assert result.head_list.queries == ("word 0", "word 1", "word 2")
    assert "url" not in result.records.column_names
    assert result.records["cell"].to_pylist() == ["record"] * 3 + ["other"]
    assert result.records["query"].to_pylist() == result.queries["query"].to_pylist()
    assert sum(result.records["probability"].to_pylist()) == pytest.approx(1)


def test_a_device_reports_a_word_alone(result: bdp.RunResult) -> None:
    def reports(*record: str) -> list[object]:
        source = bdp.Randomness.seeded(1)
        device = bdp.LocalRandomizer(result.head_list, randomness=source)
        return [device.report(*record) for _ in range(20)]

    assert reports("word 1") == reports("word 1", "-")
    assert reports("word 1") != reports("word 2")


def test_the_command_takes_a_log_without_a_url(
    tmp_path: Path, result: bdp.RunResult, blender_dp: BlenderDp
) -> None:
    log = write_csv(tmp_path / "log.csv", ROWS, ("user", "word"))
    columns = ("--query=word", "--no-url", "--seed=7", "--epsilon=4", "--delta=1e-4")
    blender_dp("run", log, *columns, "--opt-in=0.4", "-o", tmp_path / "out")
    header, *_ = (tmp_path / "out" / "records.csv").read_text().splitlines()
    assert header.startswith('"cell","query","probability"')
    release = bdp.read_release(tmp_path / "out" / "release.json")
    assert release.records == result.release().records
    blender_dp("head-list", log, *columns, "-o", tmp_path / "curator")
    listed = tmp_path / "curator" / "head_list.json"
    reports = tmp_path / "reports.parquet"
    blender_dp("privatize", listed, log, "--query=word", "--no-url", "--seed=1", "-o", reports)
    assert reports.stat().st_size > 0
    assert json.loads(listed.read_text())["private"] is False


def test_a_format_with_two_levels_is_refused(logs_of_one_kind: dict[str, Path]) -> None:
    with pytest.raises(bdp.BlenderError, match="url must be left as it is for the aol format"):
        bdp.run(logs_of_one_kind["aol"], PARAMETERS, url=None, opt_in=0.4)
