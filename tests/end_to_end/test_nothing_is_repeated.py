"""What people did reaches the release if it is popular, and nothing else, ever."""

import logging
from pathlib import Path

import pytest
from end_to_end.conftest import BlenderDp

from logs import GROUPED_HEADER, PLANTED, Row, write_csv

PROMISE = ("--epsilon=4", "--delta=1e-9")
"""So small a δ that one of 300 rare records is listed less than once in three million runs."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log with a planted word in every user id, and in the records of a few users."""
    rows: list[Row] = [
        (f"{PLANTED}-{i}", "weather", "weather.example", "opt-in" if i % 2 else "client")
        for i in range(2000)
    ]
    for i in range(0, 2000, 7):
        rows[i] = (rows[i][0], f"{PLANTED} {i}", f"{PLANTED}.example/{i}", rows[i][3])
    return write_csv(tmp_path_factory.mktemp("planted") / "log.csv", rows, GROUPED_HEADER)


def planted_in(folder: Path) -> list[str]:
    """Return the files in which the planted word stands, in whatever form."""
    word = PLANTED.encode()
    return [path.name for path in folder.rglob("*") if path.is_file() and word in path.read_bytes()]


def test_a_run_repeats_nothing_that_is_not_popular(
    blender_dp: BlenderDp,
    log: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        blender_dp("run", log, *PROMISE, "--group=side", "-o", tmp_path / "out")
    captured = capfd.readouterr()
    assert "weather" in captured.out
    assert PLANTED not in captured.out + captured.err + caplog.text
    assert planted_in(tmp_path) == []
    assert b"weather" in (tmp_path / "out" / "records.csv").read_bytes()
    assert b"weather" not in (tmp_path / "out" / "run.json").read_bytes()


def test_the_steps_apart_repeat_nothing_either(
    blender_dp: BlenderDp,
    log: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    head_list, reports = tmp_path / "curated" / "head_list.json", tmp_path / "reports.parquet"
    with caplog.at_level(logging.DEBUG):
        blender_dp("head-list", log, *PROMISE, "--group=side", "-o", head_list.parent)
        blender_dp("privatize", head_list, log, "--group=side", "-o", reports)
        blender_dp("privatize", head_list, "--record", PLANTED, PLANTED)
        blender_dp("estimate", head_list, reports, "-o", tmp_path / "clients.json")
    captured = capfd.readouterr()
    assert PLANTED not in captured.out + captured.err + caplog.text
    assert "weather" not in captured.out + captured.err + caplog.text
    assert planted_in(tmp_path) == []
    for name in ("clients.json", "reports.parquet", "curated/opt_in_estimates.json"):
        assert b"weather" not in (tmp_path / name).read_bytes()
