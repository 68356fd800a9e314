"""Reports of one cell: its number."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from blender_dp.core.channels.report import Question
from blender_dp.core.errors import UnknownReportError
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.documents.staging import staged_file
from blender_dp.wire.reports.packed_items import ItemPacking
from blender_dp.wire.reports.report_files import (
    Codec,
    NamedTables,
    ReportFields,
    format_of,
    shared_fields,
)


def _write(path: Path, head_list: HeadList, named: NamedTables) -> int:
    """Write many reports sorted by cell, an order that reveals nothing."""
    write = _write_lines if format_of(path) == "json" else _write_parquet
    counts = np.zeros(head_list.cells.cell_count, dtype=np.int64)
    for table in named["record"]:
        counts += table.sum(axis=0)
    with staged_file(path) as partial:
        write(partial, head_list, counts)
    return int(counts.sum())


def _write_lines(path: Path, head_list: HeadList, report_counts: IntArray) -> None:
    constants = shared_fields(head_list)
    with path.open("w", encoding="utf-8") as file:
        for cell, count in enumerate(report_counts.tolist()):
            line = json.dumps({**constants, "cell": cell}) + "\n"
            file.writelines(itertools.repeat(line, count))


def _write_parquet(path: Path, head_list: HeadList, report_counts: IntArray) -> None:
    cells = np.repeat(np.arange(len(report_counts), dtype=np.int32), report_counts)
    constants = shared_fields(head_list)
    columns = {name: pa.repeat(value, len(cells)) for name, value in constants.items()}
    pq.write_table(pa.table({**columns, "cell": cells}), path)


class CellCounter:
    """Counts reports by cell."""

    fields = ("cell",)
    texts = ()

    def __init__(self, head_list: HeadList) -> None:
        self._cells = np.zeros(head_list.cells.cell_count, dtype=np.int64)
        self._queries = np.zeros(head_list.cells.query_count, dtype=np.int64)

    def add(self, path: Path, batch: pa.RecordBatch) -> None:
        """Count some reports."""
        cells, size = batch.column("cell").to_numpy(zero_copy_only=False), len(self._cells)
        if cells.dtype.kind not in "iu" or not np.all((cells >= 0) & (cells < size)):
            raise UnknownReportError(
                f"{path}: has reports that name no cell of this head list; "
                f"cell must be a whole number from 0 to {size - 1}"
            )
        self._cells += np.bincount(cells.astype(np.int64), minlength=size)

    def counts(self) -> ReportCounts:
        """Return everything counted so far."""
        return ReportCounts(
            cells=self._cells,
            cell_reports=int(self._cells.sum()),
            queries=self._queries,
            query_reports=0,
        )


def _report_fields(_: HeadList) -> ReportFields:
    return lambda _, named: [{"cell": cell} for cell in np.nonzero(named)[1].tolist()]


def _packings(_: HeadList) -> dict[Question, ItemPacking]:
    return {}


def _count_fields(_: ReportCounts) -> dict[str, Any]:
    return {}


def _read_counts(fields: Fields, cells: IntArray, head_list: HeadList) -> ReportCounts:
    if cells.sum() < 2 or cells.min() < 0:
        fields.refuse("report_counts", "must count two reports or more")
    return ReportCounts.one_cell_each(cells, head_list.cells)


CODEC = Codec(
    report_fields=_report_fields,
    write=_write,
    packings=_packings,
    counter=CellCounter,
    count_fields=_count_fields,
    read_counts=_read_counts,
)
