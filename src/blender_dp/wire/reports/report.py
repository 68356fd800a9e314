"""Reports of clients: cells or queries of a head list, named by number, never by text.

One report is a JSON object on a line; many may also come as a Parquet file with the same fields:
``version`` 1, ``head_list`` (digest), ``mechanism``, and what was reported: ``cell`` by LocalAlg,
``question`` and ``items`` by subset selection.
"""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from blender_dp.core.channels.report import Report
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.errors import UnknownReportError
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts
from blender_dp.wire.documents.staging import staged_file
from blender_dp.wire.reports.report_files import batches, format_of, require_constant, shared_fields
from blender_dp.wire.reports.subset_reports import SubsetCounter, reported_subset

_CONSTANT = ("version", "mechanism", "head_list")


def report_document(head_list: HeadList, report: Report) -> dict[str, Any]:
    """Return one report as it leaves a device."""
    constants = shared_fields(head_list)
    if isinstance(head_list.mechanism, SubsetSelectionMechanism):
        return {**constants, **reported_subset(head_list, report)}
    return {**constants, "cell": report.items[0]}


def write_reports(path: Path, head_list: HeadList, report_counts: IntArray) -> None:
    """Write many reports of LocalAlg in the order of their cells, an order that tells nothing."""
    write = _write_lines if format_of(path) == "json" else _write_parquet
    with staged_file(path) as partial:
        write(partial, head_list, report_counts)


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


def count_reports(path: Path, head_list: HeadList) -> ReportCounts:
    """Count what a file's reports name; refuse the file if any of them is not for this list."""
    is_subset = isinstance(head_list.mechanism, SubsetSelectionMechanism)
    counter = SubsetCounter(head_list) if is_subset else _CellCounter(head_list)
    constants = shared_fields(head_list)
    for batch in batches(path, [*constants, *counter.fields], counter.texts):
        for name in _CONSTANT:
            require_constant(path, batch, name, constants[name])
        counter.add(path, batch)
    return counter.counts()


def together(counts: Sequence[ReportCounts]) -> ReportCounts:
    """Add up the counts of several files."""
    return ReportCounts(
        cells=np.sum([count.cells for count in counts], axis=0),
        cell_reports=sum(count.cell_reports for count in counts),
        queries=np.sum([count.queries for count in counts], axis=0),
        query_reports=sum(count.query_reports for count in counts),
    )


class _CellCounter:
    """Counts reports of LocalAlg by cell."""

    fields = ("cell",)
    texts = ()

    def __init__(self, head_list: HeadList) -> None:
        self._cells = np.zeros(head_list.cells.cell_count, dtype=np.int64)
        self._queries = np.zeros(head_list.cells.query_count, dtype=np.int64)

    def add(self, path: Path, batch: pa.RecordBatch) -> None:
        cells, size = batch.column("cell").to_numpy(zero_copy_only=False), len(self._cells)
        if cells.dtype.kind not in "iu" or not np.all((cells >= 0) & (cells < size)):
            raise UnknownReportError(
                f"{path}: has reports that name no cell of this head list; "
                f"cell must be a whole number from 0 to {size - 1}"
            )
        self._cells += np.bincount(cells.astype(np.int64), minlength=size)

    def counts(self) -> ReportCounts:
        return ReportCounts(
            cells=self._cells,
            cell_reports=int(self._cells.sum()),
            queries=self._queries,
            query_reports=0,
        )
