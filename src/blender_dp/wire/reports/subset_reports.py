"""Reports of several items: the question, and the items named in a fixed number of bytes."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from blender_dp.core.channels.report import Question
from blender_dp.core.errors import UnknownReportError
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.documents.staging import staged_file
from blender_dp.wire.reports.packed_items import ByteArray, ItemPacking, from_texts, to_text
from blender_dp.wire.reports.report_files import (
    Codec,
    NamedTables,
    ReportFields,
    distinct_values,
    format_of,
    shared_fields,
)

_BYTES_AT_ONCE = 1 << 18
"""Size of reports that are unpacked together; each bit becomes a byte."""


def _packings(head_list: HeadList) -> dict[Question, ItemPacking]:
    """Return the packing of the reports to each question that is asked."""
    mechanism = head_list.mechanism
    return {
        question: ItemPacking.of(channel)
        for question, channel in mechanism.channels(head_list.cells).items()
        if question == "record" or mechanism.query_share > 0
    }


def _report_fields(head_list: HeadList) -> ReportFields:
    forms = _packings(head_list)
    return lambda question, named: [
        {"question": question, "items": to_text(row.tobytes())}
        for row in forms[question].pack(named)
    ]


def _write(path: Path, head_list: HeadList, named: NamedTables) -> int:
    """Write many reports, sorted by their bytes, which reveals nothing."""
    write = _write_lines if format_of(path) == "json" else _write_parquet
    forms = _packings(head_list)
    packed = {question: _sorted_rows(forms[question], tables) for question, tables in named.items()}
    with staged_file(path) as partial:
        write(partial, shared_fields(head_list), packed)
    return sum(len(rows) for rows in packed.values())


def _sorted_rows(packing: ItemPacking, tables: Iterable[BoolArray]) -> ByteArray:
    length = packing.length
    none = np.zeros((0, length), dtype=np.uint8)
    rows = np.concatenate([none, *(packing.pack(table) for table in tables)])
    if not length:  # an empty list has nothing to name
        return rows
    return np.sort(rows.reshape(-1).view(f"S{length}")).view(np.uint8).reshape(-1, length)


def _write_lines(
    path: Path, shared: Mapping[str, Any], packed: Mapping[Question, ByteArray]
) -> None:
    with path.open("w", encoding="utf-8") as file:
        for question, rows in packed.items():
            for row in rows:
                report = {**shared, "question": question, "items": to_text(row.tobytes())}
                file.write(json.dumps(report) + "\n")


def _write_parquet(
    path: Path, shared: Mapping[str, Any], packed: Mapping[Question, ByteArray]
) -> None:
    tables = []
    for question, rows in packed.items():
        fields = {**shared, "question": question}
        columns = {name: pa.repeat(value, len(rows)) for name, value in fields.items()}
        buffers = [None, pa.py_buffer(rows.tobytes())]
        items = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(rows.shape[1]), len(rows), buffers
        ).cast(pa.binary())
        tables.append(pa.table({**columns, "items": items}))
    pq.write_table(pa.concat_tables(tables), path)


class SubsetCounter:
    """Counts reports by question and item; refuses reports that no device could send."""

    fields = ("question", "items")
    texts = ("question", "items")

    def __init__(self, head_list: HeadList) -> None:
        self._packings = _packings(head_list)
        cells = head_list.cells
        sizes: dict[Question, int] = {"record": cells.cell_count, "query": cells.query_count}
        self._named = {question: np.zeros(n, dtype=np.int64) for question, n in sizes.items()}
        self._reports = dict.fromkeys(sizes, 0)

    def add(self, path: Path, batch: pa.RecordBatch) -> None:
        """Count some reports."""
        # Imported here: only a file of reports needs it, and it takes 0.1 s.
        import pyarrow.compute as pc  # noqa: PLC0415

        questions = distinct_values(path, batch, "question")
        if any(question not in self._packings for question in questions):
            raise UnknownReportError(
                f"{path}: has reports to a question that this head list does not ask; "
                f"question must be {' or '.join(self._packings)}"
            )
        for question in get_args(Question):
            if question in questions:
                asked = batch.filter(pc.equal(batch.column("question"), question))
                self._add_answers(path, question, asked.column("items"))

    def _add_answers(self, path: Path, question: Question, items: pa.Array) -> None:
        packing = self._packings[question]
        rows = _packed_rows(items, packing, is_text=format_of(path) == "json")
        counts = None if rows is None else _counts_by_item(rows, packing)
        if counts is None:
            raise UnknownReportError(
                f"{path}: has reports that no client of this head list could have sent; items of a "
                f"{question} must be {packing.length} bytes that name exactly "
                f"{packing.subset_size} of {packing.size} numbers, in increasing order"
            )
        self._named[question] += counts
        self._reports[question] += len(items)

    def counts(self) -> ReportCounts:
        """Return everything counted so far."""
        return ReportCounts(
            cells=self._named["record"],
            cell_reports=self._reports["record"],
            queries=self._named["query"],
            query_reports=self._reports["query"],
        )


def _packed_rows(items: pa.Array, packing: ItemPacking, *, is_text: bool) -> ByteArray | None:
    """Return one row of bytes per report; None if one has a wrong length or letter."""
    kind = pa.types.is_string(items.type) if is_text else not pa.types.is_string(items.type)
    if items.null_count or not kind:
        return None
    if not is_text:
        return _rows_of(items, packing.length)
    letters = _rows_of(items, packing.text_length)
    return None if letters is None else from_texts(letters, packing.length)


def _rows_of(items: pa.Array, length: int) -> ByteArray | None:
    try:
        fixed = items.cast(pa.binary()).cast(pa.binary(length))
    except pa.ArrowException:
        return None
    if not length:
        return np.zeros((len(items), 0), dtype=np.uint8)
    start, end = fixed.offset * length, (fixed.offset + len(fixed)) * length
    return np.frombuffer(fixed.buffers()[1], dtype=np.uint8)[start:end].reshape(-1, length)


def _counts_by_item(rows: ByteArray, packing: ItemPacking) -> IntArray | None:
    at_once = max(_BYTES_AT_ONCE // max(packing.length, 1), 1)
    total = np.zeros(packing.size, dtype=np.int64)
    for start in range(0, len(rows), at_once):
        counts = packing.counts(rows[start : start + at_once])
        if counts is None:
            return None
        total += counts
    return total


def _count_fields(reports: ReportCounts) -> dict[str, Any]:
    return {
        "reports": reports.cell_reports,
        "query_report_counts": reports.queries.tolist(),
        "query_reports": reports.query_reports,
    }


def _read_counts(fields: Fields, cells: IntArray, head_list: HeadList) -> ReportCounts:
    """Read the counts; each report names d different items.

    With a relay there may be no other clients.
    """
    channels = head_list.mechanism.channels(head_list.cells)
    reports = ReportCounts(
        cells=cells,
        cell_reports=fields.whole("reports", at_least=2 if head_list.relay is None else 0),
        queries=fields.counts("query_report_counts", head_list.cells.query_count),
        query_reports=fields.whole("query_reports", at_least=0),
    )
    counted: tuple[tuple[str, Question, IntArray, int], ...] = (
        ("report_counts", "record", reports.cells, reports.cell_reports),
        ("query_report_counts", "query", reports.queries, reports.query_reports),
    )
    for name, question, counts, total in counted:
        each = channels[question].subset_size if question in channels else 0
        is_possible = counts.min() >= 0 and counts.max() <= total and (each or not total)
        if not is_possible or int(counts.sum()) != total * each:
            fields.refuse(name, f"must be what {total} reports can name")
    return reports


CODEC = Codec(
    report_fields=_report_fields,
    write=_write,
    packings=_packings,
    counter=SubsetCounter,
    count_fields=_count_fields,
    read_counts=_read_counts,
)
