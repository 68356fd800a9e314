"""The library as a program uses it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import blender_dp as bdp
from blender_dp.engine.population.in_memory import LogRow, MemoryPopulation
from logs import popular_rows

PARAMETERS = bdp.Parameters(epsilon=4, delta=1e-4, head_list_size=30)


@pytest.fixture(scope="module")
def head_list() -> bdp.HeadList:
    rows = [LogRow(user, query, url) for user, query, url in popular_rows(2000)]
    population = MemoryPopulation.of(rows, bdp.Randomness.secure(), opt_in=0.5)
    return bdp.create_head_list(population, PARAMETERS)


def test_every_public_name_is_there_and_no_other() -> None:
    assert sorted(bdp.__all__) == bdp.__all__
    for name in bdp.__all__:
        assert getattr(bdp, name) is not None


def test_a_run_returns_the_tables_that_the_command_writes(log: Path, result: Path) -> None:
    found = bdp.run(log, PARAMETERS, opt_in=0.2, seed=7)
    assert isinstance(found.records, pa.Table)
    assert found.records.equals(pq.read_table(result / "records.parquet"))
    assert found.queries.equals(pq.read_table(result / "queries.parquet"))
    assert found.private is False


def test_a_path_may_be_a_string_and_no_seed_is_private(logs_of_one_kind: dict[str, Path]) -> None:
    found = bdp.run(str(logs_of_one_kind["parquet"]), PARAMETERS, opt_in=0.2)
    assert found.private is True
    assert sum(found.records["probability"].to_pylist()) == pytest.approx(1)


def test_a_log_may_say_how_it_is_read(logs_of_one_kind: dict[str, Path], result: Path) -> None:
    described = bdp.Log(
        paths=[logs_of_one_kind["tsv"]],
        format=bdp.LogFormat.TSV,
        columns=bdp.LogColumns(user="user", query="query", url="url"),
    )
    found = bdp.run(described, PARAMETERS, opt_in=0.2, seed=7)
    assert found.records.equals(pq.read_table(result / "records.parquet"))


def test_whoever_waits_is_told_every_step(log: Path) -> None:
    steps: list[str] = []
    workspace = bdp.Workspace(progress=steps.append)
    assert steps == list(bdp.run(log, PARAMETERS, opt_in=0.2, workspace=workspace).seconds)


def test_a_curator_finds_the_list_and_a_device_reports_against_it(head_list: bdp.HeadList) -> None:
    assert head_list.private
    assert head_list.queries == tuple(f"query {i}" for i in range(5))
    randomizer = bdp.LocalRandomizer(head_list)
    reports = {randomizer.report("query 1", "1.example").items for _ in range(200)}
    assert reports <= {(cell,) for cell in range(head_list.cells.cell_count)}
    assert len(reports) > 1


def test_a_device_without_a_record_reports_too(head_list: bdp.HeadList) -> None:
    (cell,) = bdp.LocalRandomizer(head_list).report(None, None).items
    assert 0 <= cell < head_list.cells.cell_count


@pytest.mark.parametrize("opt_in", [None, 0.0, 1.0, float("nan"), -1.0])
def test_a_mistake_is_an_exception_of_ours(log: Path, opt_in: float | None) -> None:
    with pytest.raises(bdp.BlenderError, match="opt_in must be"):
        bdp.run(log, PARAMETERS, opt_in=opt_in)


def test_a_missing_log_is_an_exception_of_ours(tmp_path: Path) -> None:
    with pytest.raises(bdp.BlenderError, match="there is no such file or folder"):
        bdp.run(tmp_path / "none.csv", PARAMETERS, opt_in=0.2)
