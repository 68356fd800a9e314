"""Clients' reports: counted alike in both formats, and refused by the file when one is wrong."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire.lists import LIST, OTHER_LIST

from blender_dp.core.channels.report import Report
from blender_dp.core.errors import BlenderError, HeadListMismatchError, UnknownReportError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.reports.report import count_reports, report_document, write_reports
from logs import PLANTED

CELLS = LIST.cells.cell_count
NO_CELLS: list[Any] = [
    *(CELLS, -1, 2**31, 2**32, 2**40, -(2**40), 2**63 - 1),
    *(1.5, 1.0, float("nan"), "1", PLANTED, "2024-01-01", None, True, [1], {"cell": 1}),
]
Document = dict[str, Any]


def report_of(head_list: HeadList, cell: int) -> Document:
    return report_document(head_list, Report(question="record", items=(cell,)))


REPORT = report_of(LIST, 3)


def write_lines(path: Path, reports: Sequence[Document]) -> Path:
    path.write_text("".join(json.dumps(report) + "\n" for report in reports), encoding="utf-8")
    return path


def write_columns(path: Path, reports: Sequence[Document]) -> Path:
    pq.write_table(pa.Table.from_pylist(list(reports)), path)
    return path


WRITERS: dict[str, Callable[[Path, Sequence[Document]], Path]] = {
    "jsonl": write_lines,
    "ndjson": write_lines,
    "parquet": write_columns,
}


def refusal_of(path: Path, head_list: HeadList = LIST) -> str:
    """Return how a file is refused: a sentence that names it and repeats nothing of it."""
    with pytest.raises(BlenderError) as refusal:
        count_reports(path, head_list)
    message = str(refusal.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert PLANTED not in message
    return message.removeprefix(str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


def test_a_report_names_a_cell_a_list_and_a_mechanism_and_nothing_else() -> None:
    assert set(REPORT) == {"version", "head_list", "mechanism", "cell"}
    assert (REPORT["version"], REPORT["mechanism"], REPORT["cell"]) == (1, "local-alg/1", 3)


@settings(deadline=None, max_examples=30)
@given(cells=st.lists(st.integers(0, CELLS - 1), min_size=1, max_size=40))
def test_every_format_is_counted_the_same(folder: Path, cells: list[int]) -> None:
    expected = [cells.count(cell) for cell in range(CELLS)]
    reports = [report_of(LIST, cell) for cell in cells]
    for suffix, write in WRITERS.items():
        path = write(folder / f"reports.{suffix}", reports)
        assert count_reports(path, LIST).cells.tolist() == expected


@settings(deadline=None, max_examples=30)
@given(counts=st.lists(st.integers(0, 30), min_size=CELLS, max_size=CELLS))
def test_what_is_written_is_counted_and_its_order_tells_nothing(
    folder: Path, counts: list[int]
) -> None:
    path = folder / "written.parquet"
    write_reports(path, LIST, {"record": [np.eye(CELLS, dtype=bool).repeat(counts, axis=0)]})
    assert count_reports(path, LIST).cells.tolist() == counts
    table = pq.read_table(path)
    cells = table["cell"].to_pylist()
    assert table.column_names == list(REPORT)
    assert cells == sorted(cells)
    for field in ("version", "head_list", "mechanism"):
        assert set(table[field].to_pylist()) <= {REPORT[field]}


def test_blank_lines_and_other_line_ends_count_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "reports.jsonl"
    line = json.dumps(REPORT)
    path.write_bytes(f"{line}\r\n\r\n{line}\n\n{line}".encode())
    assert count_reports(path, LIST).cells[3] == count_reports(path, LIST).cell_reports == 3


def test_many_reports_are_counted_and_the_last_one_is_looked_at_too(tmp_path: Path) -> None:
    reports = [REPORT] * 20_000
    path = write_lines(tmp_path / "reports.jsonl", reports)
    assert count_reports(path, LIST).cells[3] == 20_000
    for last in ({"cell": CELLS}, {"cell": PLANTED}, {"cell": None}, {"head_list": PLANTED}):
        refusal_of(write_lines(path, [*reports, {**REPORT, **last}]))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("at", [0, -1])
def test_one_report_for_another_head_list_refuses_the_file(
    tmp_path: Path, suffix: str, at: int
) -> None:
    reports = [REPORT] * 3
    reports[at] = report_of(OTHER_LIST, 0)
    path = WRITERS[suffix](tmp_path / f"reports.{suffix}", reports)
    with pytest.raises(HeadListMismatchError):
        count_reports(path, LIST)
    assert refusal_of(path) == ": has reports made for another head list"


def test_the_same_records_under_another_promise_are_another_list(tmp_path: Path) -> None:
    weaker = replace(LIST, mechanism=replace(LIST.mechanism, epsilon=5.0))
    path = write_lines(tmp_path / "reports.jsonl", [report_of(weaker, 0)] * 2)
    assert "another head list" in refusal_of(path)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 2),
        ("version", 0),
        ("version", "1"),
        ("version", None),
        ("version", True),
        ("mechanism", "local-alg/2"),
        ("mechanism", PLANTED),
        ("mechanism", 1),
        ("mechanism", None),
        ("head_list", PLANTED),
        ("head_list", ""),
        ("head_list", None),
        ("head_list", 1),
    ],
)
def test_reports_of_another_kind_are_refused(
    tmp_path: Path, suffix: str, field: str, value: Any
) -> None:
    reports = [{**REPORT, field: value}] * 2
    message = refusal_of(WRITERS[suffix](tmp_path / f"reports.{suffix}", reports))
    assert f"another {field.replace('_', ' ')}" in message


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("cell", NO_CELLS)
def test_a_cell_is_a_whole_number_of_the_list(tmp_path: Path, suffix: str, cell: Any) -> None:
    path = WRITERS[suffix](tmp_path / f"reports.{suffix}", [{**REPORT, "cell": cell}] * 2)
    refusal_of(path)


def test_a_cell_beyond_signed_numbers_is_refused(tmp_path: Path) -> None:
    columns = {field: [value] for field, value in REPORT.items()}
    cells = pa.array([2**63], pa.uint64())
    pq.write_table(pa.table({**columns, "cell": cells}), tmp_path / "reports.parquet")
    refusal_of(tmp_path / "reports.parquet")
    refusal_of(write_lines(tmp_path / "reports.jsonl", [{**REPORT, "cell": 2**63}]))


@pytest.mark.parametrize("suffix", WRITERS)
def test_the_rule_for_cells_is_in_the_sentence(tmp_path: Path, suffix: str) -> None:
    path = WRITERS[suffix](tmp_path / f"reports.{suffix}", [REPORT, {**REPORT, "cell": CELLS}])
    with pytest.raises(UnknownReportError):
        count_reports(path, LIST)
    assert f"cell must be a whole number from 0 to {CELLS - 1}" in refusal_of(path)


def test_a_wrong_cell_among_good_ones_refuses_the_file(tmp_path: Path) -> None:
    for cell in (CELLS, -1, 1.5, "1", PLANTED, None, True, [1]):
        for reports in ([REPORT, {**REPORT, "cell": cell}], [{**REPORT, "cell": cell}, REPORT]):
            refusal_of(write_lines(tmp_path / "reports.jsonl", reports))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("field", REPORT)
def test_a_missing_field_is_named(tmp_path: Path, suffix: str, field: str) -> None:
    without = {name: value for name, value in REPORT.items() if name != field}
    path = WRITERS[suffix](tmp_path / f"reports.{suffix}", [without] * 2)
    assert refusal_of(path) == f", field {field}: is missing from the reports"


@pytest.mark.parametrize("field", REPORT)
def test_one_report_without_a_field_refuses_the_file(tmp_path: Path, field: str) -> None:
    without = {name: value for name, value in REPORT.items() if name != field}
    refusal_of(write_lines(tmp_path / "reports.jsonl", [REPORT, without]))


LINE = json.dumps(REPORT)
BAD_LINES = {
    "nothing": b"",
    "blank lines": b"\n\n\n",
    "half a line": f'{LINE}\n{{"version": 1, "head_list": "{PLANTED}'.encode(),
    "no JSON": f"{LINE}\n{PLANTED}\n".encode(),
    "a list": f'["{PLANTED}"]\n'.encode(),
    "a string": f'"{PLANTED}"\n'.encode(),
    "zeros": bytes(200),
    "Latin-1": LINE.replace("local-alg/1", f"{PLANTED}é").encode("latin-1"),
    "UTF-16": LINE.encode("utf-16"),
    "brackets": b"[" * 100_000,
    "a cell twice": f'{LINE[:-1]}, "cell": 1}}\n'.encode(),
    "a cell beyond every integer": LINE.replace("3}", f"{10**70}}}").encode(),
}


@pytest.mark.parametrize("content", BAD_LINES.values(), ids=BAD_LINES)
def test_lines_that_are_no_reports_refuse_the_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "reports.jsonl"
    path.write_bytes(content)
    refusal_of(path)


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "reports.parquet", [REPORT] * 100)
    whole = path.read_bytes()
    for length in (0, 1, 4, 12, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        path.write_bytes(whole[:length])
        refusal_of(path)


def test_a_damaged_parquet_file_is_a_sentence_or_whole_numbers(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "reports.parquet", [REPORT] * 100)
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with suppress(BlenderError):
            assert count_reports(path, LIST).cells.min() >= 0


def test_a_file_that_cannot_be_reports_is_refused(tmp_path: Path) -> None:
    assert refusal_of(tmp_path / "none.jsonl") == ": no such file"
    assert "must be a file of reports (.jsonl" in refusal_of(tmp_path / "reports.csv")
    (tmp_path / "folder.parquet").mkdir()
    refusal_of(tmp_path / "folder.parquet")


def test_a_parquet_file_without_rows_has_no_reports(tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    assert write_reports(path, LIST, {"record": []}) == 0
    assert count_reports(path, LIST).cells.tolist() == [0] * CELLS
