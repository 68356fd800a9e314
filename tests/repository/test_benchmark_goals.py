"""The page of goals shows what the benchmarks kept, and says of each goal whether it is met."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import goals
from benchmarks.__main__ import AREAS, main
from benchmarks.goals import Goal, keep_rows
from benchmarks.spark import OURS, PEERS, Cost, goals_by_area
from benchmarks.spark_costs import Tasks


def test_the_page_shows_the_rows_that_are_kept() -> None:
    assert goals.PAGE.read_text(encoding="utf-8") == goals.page()


def test_one_area_leaves_the_rows_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(goals, "ROWS", tmp_path / "rows")
    monkeypatch.setattr(goals, "PAGE", tmp_path / "README.md")
    keep_rows("service", "make service", [Goal(what="singles", measured=1.1, at_least=1.0)])
    keep_rows("run", "make bench", [Goal(what="CPU", measured=1.31, at_most=1.3, why="The sort.")])
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| singles | 1.10 times | at least 1 | yes |" in page
    assert "| CPU | 1.31 times | at most 1.3 | **no** |" in page
    assert "- CPU: The sort." in page


def test_goals_missed_for_one_reason_are_named_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(goals, "ROWS", tmp_path / "rows")
    monkeypatch.setattr(goals, "PAGE", tmp_path / "README.md")
    missed = [Goal(what=what, measured=2.0, at_most=1.3, why="The sort.") for what in "ab"]
    keep_rows("run, text", "make bench", missed)
    assert "- a; b: The sort." in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in (tmp_path / "rows").iterdir()] == ["run-text.json"]


@pytest.mark.parametrize(("measured", "is_met"), [(1.30, True), (1.304, True), (1.306, False)])
def test_a_goal_is_judged_by_the_figure_that_is_shown(measured: float, is_met: bool) -> None:
    assert Goal(what="CPU", measured=measured, at_most=1.3).is_met == is_met


def spark_cost(program: str, rows: int, cpu_seconds: float, executors: int = 1) -> Cost:
    return Cost(
        rows=rows,
        executors=executors,
        program=program,
        cpu_seconds=cpu_seconds,
        tasks=Tasks(cpu_seconds=1.0, returned_bytes=1, shuffled_bytes=()),
        python_mb=170 + rows / 10**7,
        heap_mb=80 + rows // 10**7,
    )


def test_a_run_on_spark_is_held_against_every_peer_and_its_driver_against_itself() -> None:
    costs = [
        spark_cost(program, rows, rows / 10**6 * times)
        for rows in (10**6, 10**7, 10**8)
        for program, times in zip((*PEERS, OURS), (2.0, 1.0, 2.5), strict=True)
    ]
    costs.append(spark_cost(OURS, 10**7, 1.0, executors=2))
    areas = dict(goals_by_area(costs))
    assert list(areas) == [
        "run on Spark, 10,000,000 rows",
        "run on Spark, 100,000,000 rows",
        "run on Spark, memory of the driver",
    ]
    of_time, _, of_memory = areas.values()
    assert [(goal.measured, goal.at_most) for goal in of_time] == [(1.25, 1.3), (2.5, 1.3)]
    assert [(goal.measured, goal.at_most) for goal in of_memory] == [
        (180 / 171, 1.1),
        (90 / 81, 1.1),
    ]
    assert [goal.is_met for goal in of_memory] == [True, False]


def test_every_area_of_make_bench_is_a_module_that_can_be_run() -> None:
    for _, (module, *_) in AREAS.values():
        spec = find_spec(module)
        assert spec is not None, module
        is_package = spec.submodule_search_locations is not None
        assert not is_package or find_spec(f"{module}.__main__") is not None, module


def test_an_area_that_there_is_not_is_refused_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match=r"AREAS must be of start, devices, .*; got sprak"):
        main("start", "sprak")
    assert capsys.readouterr().out == ""
