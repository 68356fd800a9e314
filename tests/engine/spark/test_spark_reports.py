"""Reports counted on Spark are those counted here, and refused for the same reasons."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession
from third_mechanism import KaryMechanism, register
from wire.lists import LIST, OTHER_LIST
from wire.reports.test_subset_reports import QUERY, RECORD, SHARP, WRITERS, document

from blender_dp.cli import spark_estimate
from blender_dp.cli.spark_estimate import count_on_spark
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.errors import BlenderError, HeadListMismatchError, UnknownReportError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.population import ReportCounts
from blender_dp.wire.reports.report import count_reports, report_document, write_reports

pytestmark = pytest.mark.spark

BITMAP = HeadList.of(
    [Record(f"query {q}", "a.example") for q in range(9)],
    mechanism=SubsetSelectionMechanism(epsilon=0.1, query_share=0.3),
    private=False,
)
"""Of nineteen cells about half are named: a bitmap of three bytes."""
LONG = HeadList.of(
    [Record(f"query {q}", f"{u}.example") for q in range(200) for u in range(3)],
    mechanism=SubsetSelectionMechanism(epsilon=5.0, query_share=0.0),
    private=False,
)


@pytest.fixture(autouse=True)
def on_the_one_session(spark: SparkSession) -> None:
    """Start Spark before it is asked for, so that one serves all."""
    assert spark is not None


def reports_of(head_list: HeadList, count: int) -> list[dict[str, Any]]:
    randomness = Randomness.seeded(1) if not head_list.private else Randomness.secure()
    device = LocalRandomizer(head_list, randomness=randomness)
    records = [*head_list.records(), Record("unlisted", "x")]
    return [
        report_document(head_list, device.report(*records[i % len(records)])) for i in range(count)
    ]


def numbers(counts: ReportCounts) -> tuple[list[int], int, list[int], int]:
    return (
        counts.cells.tolist(),
        counts.cell_reports,
        counts.queries.tolist(),
        counts.query_reports,
    )


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("head_list", [SHARP, BITMAP, LONG], ids=["list", "bitmap", "long"])
def test_subsets_are_counted_as_here(tmp_path: Path, kind: str, head_list: HeadList) -> None:
    path = WRITERS[kind](tmp_path / f"reports.{kind}", reports_of(head_list, 60))
    expected = count_reports(path, head_list)
    assert expected.cell_reports + expected.query_reports == 60
    assert numbers(count_on_spark([path], head_list, None)) == numbers(expected)


@pytest.mark.parametrize("kind", WRITERS)
def test_cells_of_several_files_are_counted_as_here(tmp_path: Path, kind: str) -> None:
    counts = np.arange(LIST.cells.cell_count)
    named = np.eye(len(counts), dtype=bool).repeat(counts, axis=0)
    paths = [tmp_path / f"{part}.{kind}" for part in range(2)]
    for path in paths:
        write_reports(path, LIST, {"record": [named]})
    found = count_on_spark(paths, LIST, None)
    assert numbers(found) == ((2 * counts).tolist(), 2 * int(counts.sum()), [0] * 4, 0)


def test_reports_of_a_mechanism_that_only_tests_know_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    head_list = replace(LONG, mechanism=KaryMechanism(epsilon=2.0))
    path = WRITERS["parquet"](tmp_path / "reports.parquet", reports_of(head_list, 60))
    expected = count_reports(path, head_list)
    assert (expected.cell_reports, expected.cells.sum()) == (60, 60)
    assert numbers(count_on_spark([path], head_list, None)) == numbers(expected)


def tampered(**changes: object) -> list[dict[str, Any]]:
    return [document(RECORD), {**document(QUERY), **changes}]


WRONG: dict[str, tuple[Sequence[dict[str, Any]], type[BlenderError]]] = {
    "another list": (tampered(head_list="sha256:0"), HeadListMismatchError),
    "another version": (tampered(version=2), HeadListMismatchError),
    "another mechanism": (tampered(mechanism="none"), HeadListMismatchError),
    "another question": (tampered(question="url"), UnknownReportError),
    "too short": (tampered(items=""), UnknownReportError),
    "one item twice": (tampered(items="JA"), UnknownReportError),
    "fill bits": (tampered(items="OQ"), UnknownReportError),
    "no item": (tampered(items="//"), UnknownReportError),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_report_refuses_the_whole_file(tmp_path: Path, name: str) -> None:
    reports, error = WRONG[name]
    path = WRITERS["jsonl"](tmp_path / "reports.jsonl", reports)
    with pytest.raises(error) as here:
        count_reports(path, SHARP)
    with pytest.raises(error) as refusal:
        count_on_spark([path], SHARP, None)
    assert str(refusal.value).split("; items")[0] == str(here.value).split("; items")[0]


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reports.jsonl"
    path.write_text(json.dumps(document(RECORD)) + "\nxyzzy\n", encoding="utf-8")
    with pytest.raises(BlenderError, match="must be json reports throughout") as refusal:
        count_on_spark([path], SHARP, None)
    assert "xyzzy" not in str(refusal.value)
    one_each = np.eye(LIST.cells.cell_count, dtype=bool)
    write_reports(tmp_path / "cells.parquet", LIST, {"record": [one_each]})
    with pytest.raises(BlenderError, match="field question: is missing from the reports"):
        count_on_spark([tmp_path / "cells.parquet"], SHARP, None)
    with pytest.raises(HeadListMismatchError, match="another head list"):
        count_on_spark([tmp_path / "cells.parquet"], OTHER_LIST, None)
    with pytest.raises(BlenderError, match="not both"):
        count_on_spark([tmp_path / "cells.parquet", path], SHARP, None)


def test_without_spark_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise BlenderError("no Spark here")

    monkeypatch.setattr(spark_estimate, "require_spark", refuse)
    with pytest.raises(BlenderError, match="no Spark here"):
        count_on_spark([tmp_path / "reports.jsonl"], SHARP, None)
