"""Reports of subset selection: counted alike in both formats, refused when one is wrong."""

import base64
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
from wire.lists import LIST

from blender_dp.core.channels.report import Report
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.errors import BlenderError, HeadListMismatchError, UnknownReportError
from blender_dp.core.head_list.cells import BoolArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.wire.reports import subset_reports
from blender_dp.wire.reports.report import (
    codec_of,
    count_reports,
    report_document,
    together,
    write_reports,
)
from logs import PLANTED

MECHANISM = SubsetSelectionMechanism(epsilon=1.0, query_share=0.25)
SHARP = HeadList.of(
    [Record(f"query {q}", f"{u}.example") for q in range(6) for u in range(1 + q % 2)],
    mechanism=MECHANISM,
    private=True,
)
"""Sixteen cells of which four are named, in a list of two bytes; seven queries, two are named."""
CELLS, QUERIES = 16, 7
RECORD = Report(question="record", items=(0, 3, 4, 15))
QUERY = Report(question="query", items=(1, 6))
Document = dict[str, Any]


def document(report: Report, head_list: HeadList = SHARP) -> Document:
    return report_document(head_list, report)


def write_lines(path: Path, reports: Sequence[Document]) -> Path:
    path.write_text("".join(json.dumps(report) + "\n" for report in reports), encoding="utf-8")
    return path


def to_bytes(items: Any) -> Any:
    """Turn base64url into the bytes that Parquet holds; leave what is none alone."""
    with suppress(ValueError, TypeError, AttributeError):
        padded = items + "=" * (-len(items) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    return items


def write_columns(path: Path, reports: Sequence[Document]) -> Path:
    rows = [
        {k: to_bytes(v) if k == "items" else v for k, v in report.items()} for report in reports
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


WRITERS: dict[str, Callable[[Path, Sequence[Document]], Path]] = {
    "jsonl": write_lines,
    "parquet": write_columns,
}
DOCUMENT = document(RECORD)


def refusal_of(path: Path, head_list: HeadList = SHARP) -> str:
    """Return how a file is refused: a sentence that names it and repeats nothing of it."""
    with pytest.raises(BlenderError) as refusal:
        count_reports(path, head_list)
    message = str(refusal.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert PLANTED not in message
    return message.removeprefix(str(path))


def test_the_lists_are_what_they_are_said_to_be() -> None:
    forms = codec_of(SHARP).packings(SHARP)
    record, query = forms["record"], forms["query"]
    assert (record.size, record.subset_size, record.length) == (CELLS, 4, 2)
    assert (query.size, query.subset_size, query.length) == (QUERIES, 2, 1)


def test_a_report_names_items_and_a_question_and_nothing_else() -> None:
    assert list(DOCUMENT) == ["version", "head_list", "mechanism", "question", "items"]
    assert (DOCUMENT["version"], DOCUMENT["mechanism"]) == (1, "subset-selection/1")
    assert (DOCUMENT["question"], DOCUMENT["items"]) == ("record", "A08")  # 0, 3, 4, f
    assert (document(QUERY)["question"], document(QUERY)["items"]) == ("query", "OA")  # 001 110 00


@pytest.mark.parametrize("suffix", WRITERS)
def test_reports_of_devices_are_counted(tmp_path: Path, suffix: str) -> None:
    device = LocalRandomizer(SHARP)
    reports = [device.report("query 1", "0.example") for _ in range(300)]
    path = WRITERS[suffix](tmp_path / f"reports.{suffix}", [document(r) for r in reports])
    counts = count_reports(path, SHARP)
    for question, named, number, size in (
        ("record", counts.cells, counts.cell_reports, CELLS),
        ("query", counts.queries, counts.query_reports, QUERIES),
    ):
        asked = [report for report in reports if report.question == question]
        assert number == len(asked) > 0
        expected = [sum(item in report.items for report in asked) for item in range(size)]
        assert named.tolist() == expected


def tables(question_size: int, rows: Sequence[tuple[int, ...]]) -> list[BoolArray]:
    named = np.zeros((len(rows), question_size), dtype=np.bool_)
    for row, items in enumerate(rows):
        named[row, list(items)] = True
    return [named[:1], named[1:]]


@pytest.mark.parametrize("suffix", WRITERS)
def test_what_is_written_is_counted_and_its_order_tells_nothing(
    tmp_path: Path, suffix: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    records = [tuple(rng.permutation(CELLS)[:4].tolist()) for _ in range(200)]
    queries = [tuple(rng.permutation(QUERIES)[:2].tolist()) for _ in range(50)]
    path = tmp_path / f"reports.{suffix}"
    written = write_reports(
        path, SHARP, {"record": tables(CELLS, records), "query": tables(QUERIES, queries)}
    )
    assert written == 250
    counts = count_reports(path, SHARP)
    assert (counts.cell_reports, counts.query_reports) == (200, 50)
    assert counts.cells.tolist() == np.bincount(np.ravel(records), minlength=CELLS).tolist()
    assert counts.queries.tolist() == np.bincount(np.ravel(queries), minlength=QUERIES).tolist()
    if suffix == "parquet":
        rows = pq.read_table(path).to_pylist()
        assert list(rows[0]) == list(DOCUMENT)
    else:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        rows = [{**line, "items": to_bytes(line["items"])} for line in lines]
    for question in ("record", "query"):
        items = [row["items"] for row in rows if row["question"] == question]
        assert items == sorted(items)


def test_nobody_asked_for_the_query_writes_no_query(tmp_path: Path) -> None:
    alone = replace(SHARP, mechanism=replace(MECHANISM, query_share=0.0))
    path = tmp_path / "reports.parquet"
    assert write_reports(path, alone, {"record": tables(CELLS, [(0, 1, 2, 3)] * 3)}) == 3
    counts = count_reports(path, alone)
    assert (counts.cell_reports, counts.query_reports) == (3, 0)
    assert counts.queries.tolist() == [0] * QUERIES


def test_files_are_added_up(tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path / f"{n}.jsonl", [DOCUMENT] * n + [document(QUERY)]) for n in (2, 3)
    ]
    counts = together([count_reports(path, SHARP) for path in files])
    assert (counts.cell_reports, counts.query_reports) == (5, 2)
    assert np.flatnonzero(counts.cells).tolist() == [0, 3, 4, 15]
    assert counts.queries.tolist() == [0, 2, 0, 0, 0, 0, 2]


NO_ITEMS: dict[str, Any] = {
    "nothing": "",
    "a byte too few": "Ag",
    "a byte too many": "A08A",
    "a number twice": "AAMP",
    "decreasing numbers": "8w",
    "increasing but for one": "MA8",
    "padded": "A08=",
    "base64 of another alphabet": "A0/",
    "another spelling of the same bytes": "A09",
    "a word": PLANTED,
    "a date": "2024-01-01",
    "null": None,
    "a number": 3,
    "a list": [0, 3, 4, 15],
    "an object": {"0": True},
    "true": True,
}


SPELLINGS = ("padded", "base64 of another alphabet", "another spelling of the same bytes")
"""Wrong in JSON only: Parquet holds the bytes themselves."""


@pytest.mark.parametrize(
    ("suffix", "case"),
    [(s, c) for s in WRITERS for c in NO_ITEMS if s == "jsonl" or c not in SPELLINGS],
)
def test_items_that_no_device_sends_are_refused(tmp_path: Path, suffix: str, case: str) -> None:
    bad = {**DOCUMENT, "items": NO_ITEMS[case]}
    refusal_of(WRITERS[suffix](tmp_path / f"reports.{suffix}", [bad, bad]))


@pytest.mark.parametrize(
    "items", [b"\x00\x01", b"\xff\xff", b"\x00\x00", b"\x43\x0f", b"", b"\x03"]
)
def test_bytes_that_name_no_subset_are_refused(tmp_path: Path, items: bytes) -> None:
    good = to_bytes(DOCUMENT["items"])
    for named in ([items] * 2, [good] * 9 + [items], [items] + [good] * 9):
        rows = [{**DOCUMENT, "items": one} for one in named]
        path = tmp_path / "reports.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path)
        with pytest.raises(
            UnknownReportError, match="exactly 4 of 16 numbers, in increasing order"
        ):
            count_reports(path, SHARP)


@pytest.mark.parametrize("case", NO_ITEMS)
def test_one_wrong_report_among_good_ones_refuses_the_file(tmp_path: Path, case: str) -> None:
    bad = {**DOCUMENT, "items": NO_ITEMS[case]}
    refusal_of(write_lines(tmp_path / "reports.jsonl", [DOCUMENT, bad, DOCUMENT]))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("question", ["", "Record", "records", PLANTED, None, 1, True])
def test_another_question_is_refused(tmp_path: Path, suffix: str, question: Any) -> None:
    bad = {**DOCUMENT, "question": question}
    refusal_of(WRITERS[suffix](tmp_path / f"reports.{suffix}", [bad, bad]))


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_question_that_is_never_asked_is_refused(tmp_path: Path, suffix: str) -> None:
    alone = replace(SHARP, mechanism=replace(MECHANISM, query_share=0.0))
    bad = {**document(Report(question="record", items=RECORD.items), alone), "question": "query"}
    path = WRITERS[suffix](tmp_path / f"reports.{suffix}", [bad])
    assert "question must be record" in refusal_of(path, alone)


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_answer_to_the_other_question_is_refused(tmp_path: Path, suffix: str) -> None:
    for report in (RECORD, QUERY):
        other = "query" if report.question == "record" else "record"
        bad = {**document(report), "question": other}
        path = WRITERS[suffix](tmp_path / f"reports.{suffix}", [bad])
        assert "no client of this head list could have sent" in refusal_of(path)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("field", DOCUMENT)
def test_a_missing_field_is_refused(tmp_path: Path, suffix: str, field: str) -> None:
    without = {name: value for name, value in DOCUMENT.items() if name != field}
    refusal_of(WRITERS[suffix](tmp_path / f"reports.{suffix}", [without] * 2))
    if suffix == "jsonl":
        refusal_of(write_lines(tmp_path / "some.jsonl", [DOCUMENT, without]))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(
    ("field", "value"),
    [("version", 2), ("version", "1"), ("mechanism", "local-alg/1"), ("head_list", PLANTED)],
)
def test_reports_of_another_kind_are_refused(
    tmp_path: Path, suffix: str, field: str, value: Any
) -> None:
    path = WRITERS[suffix](tmp_path / f"reports.{suffix}", [{**DOCUMENT, field: value}] * 2)
    assert f"another {field.replace('_', ' ')}" in refusal_of(path)


def test_reports_of_the_two_mechanisms_do_not_pass_for_each_other(tmp_path: Path) -> None:
    cell = report_document(LIST, Report(question="record", items=(3,)))
    refusal_of(write_lines(tmp_path / "cells.jsonl", [cell]), SHARP)
    refusal_of(write_lines(tmp_path / "subsets.jsonl", [DOCUMENT]), LIST)


def test_the_same_records_under_another_share_are_another_list(tmp_path: Path) -> None:
    other = replace(SHARP, mechanism=replace(MECHANISM, query_share=0.5))
    path = write_lines(tmp_path / "reports.jsonl", [document(RECORD, other)] * 2)
    with pytest.raises(HeadListMismatchError, match="another head list"):
        count_reports(path, SHARP)


def test_texts_in_parquet_are_no_bytes(tmp_path: Path) -> None:
    """Two letters are as long as two bytes."""
    pq.write_table(pa.Table.from_pylist([{**DOCUMENT, "items": "AB"}]), tmp_path / "r.parquet")
    refusal_of(tmp_path / "r.parquet")


def test_a_damaged_parquet_file_is_a_sentence_or_whole_numbers(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "reports.parquet", [DOCUMENT] * 100)
    whole = path.read_bytes()
    for at in range(0, len(whole), 29):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with suppress(BlenderError):
            assert count_reports(path, SHARP).cells.min() >= 0


def test_more_reports_than_are_unpacked_at_once_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subset_reports, "_BYTES_AT_ONCE", 100)
    path = tmp_path / "reports.parquet"
    rows = [(0, 1, 2, 3)] + [RECORD.items] * 3_000
    write_reports(path, SHARP, {"record": tables(CELLS, rows)})
    counts = count_reports(path, SHARP)
    assert counts.cells[[0, 1, 15]].tolist() == [3_001, 1, 3_000]
