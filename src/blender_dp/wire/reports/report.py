"""A client's report: cells or queries of a head list, named by number, never by text.

One report is a JSON object on a line; many may also come as a Parquet file with the same fields:
``version`` 1, ``head_list`` (digest), ``mechanism``, and what was reported. The layout of the
mechanism says how: ``cell``, or ``question`` and ``items``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blender_dp.core.channels.report import Layout, Report
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts
from blender_dp.wire.reports import cell_reports, subset_reports
from blender_dp.wire.reports.packed_items import table_of
from blender_dp.wire.reports.report_files import (
    Codec,
    NamedTables,
    batches,
    require_constant,
    shared_fields,
)

_CONSTANT = ("version", "mechanism", "head_list")
_CODECS: dict[Layout, Codec] = {"cell": cell_reports.CODEC, "items": subset_reports.CODEC}


def codec_of(head_list: HeadList) -> Codec:
    """Return the codec of reports against this list."""
    return _CODECS[head_list.mechanism.layout]


def report_document(head_list: HeadList, report: Report) -> dict[str, Any]:
    """Return one report as it leaves a device."""
    cells = head_list.cells
    size = cells.cell_count if report.question == "record" else cells.query_count
    named = table_of(report.items, size)
    [fields] = codec_of(head_list).report_fields(head_list)(report.question, named)
    return {**shared_fields(head_list), **fields}


def write_reports(path: Path, head_list: HeadList, named: NamedTables) -> int:
    """Write a .parquet or .jsonl file of many reports; return how many."""
    return codec_of(head_list).write(path, head_list, named)


def count_reports(path: Path, head_list: HeadList) -> ReportCounts:
    """Count the items that a file's reports name; refuse the file if one is not for this list."""
    counter = codec_of(head_list).counter(head_list)
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
