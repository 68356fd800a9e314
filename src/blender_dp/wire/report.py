"""A client's report: a cell of a head list, named by number, never by text.

One report is a JSON object on a line; many may also come as a Parquet file with the same four
fields: ``version`` 1, ``head_list`` (digest), ``mechanism`` and ``cell``.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from blender_dp.core.cells import IntArray
from blender_dp.core.errors import HeadListMismatchError, InputError, UnknownReportError
from blender_dp.core.head_list import HeadList
from blender_dp.wire.head_list import head_list_digest, mechanism_name
from blender_dp.wire.staging import staged_file

VERSION = 1
_FORMATS = {".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
_FIELDS = ("version", "head_list", "mechanism", "cell")


def report_document(head_list: HeadList, cell: int) -> dict[str, Any]:
    """Return one report as it leaves a device."""
    return {
        "version": VERSION,
        "head_list": head_list_digest(head_list),
        "mechanism": mechanism_name(head_list),
        "cell": cell,
    }


def write_reports(path: Path, head_list: HeadList, report_counts: IntArray) -> None:
    """Write many reports in the order of their cells, an order that tells nothing."""
    write = _write_lines if _format_of(path) == "json" else _write_parquet
    with staged_file(path) as partial:
        write(partial, head_list, report_counts)


def _write_lines(path: Path, head_list: HeadList, report_counts: IntArray) -> None:
    with path.open("w", encoding="utf-8") as file:
        for cell, count in enumerate(report_counts.tolist()):
            line = json.dumps(report_document(head_list, cell)) + "\n"
            file.writelines(itertools.repeat(line, count))


def _write_parquet(path: Path, head_list: HeadList, report_counts: IntArray) -> None:
    cells = np.repeat(np.arange(len(report_counts), dtype=np.int32), report_counts)
    constants = report_document(head_list, 0)
    columns = {name: pa.repeat(constants[name], len(cells)) for name in _FIELDS}
    pq.write_table(pa.table({**columns, "cell": cells}), path)


def count_reports(path: Path, head_list: HeadList) -> IntArray:
    """Count the reports of a file by cell; refuse the file if any of them is not for this list."""
    counts = np.zeros(head_list.cells.cell_count, dtype=np.int64)
    digest, mechanism = head_list_digest(head_list), mechanism_name(head_list)
    for batch in _batches(path):
        _require_constant(path, batch, "version", VERSION)
        _require_constant(path, batch, "mechanism", mechanism)
        _require_constant(path, batch, "head_list", digest)
        cells = batch.column("cell").to_numpy(zero_copy_only=False)
        if cells.dtype.kind not in "iu" or not np.all((cells >= 0) & (cells < len(counts))):
            raise UnknownReportError(
                f"{path}: has reports that name no cell of this head list; "
                f"cell must be a whole number from 0 to {len(counts) - 1}"
            )
        counts += np.bincount(cells.astype(np.int64), minlength=len(counts))
    return counts


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    kind = _format_of(path)
    if not path.is_file():
        raise InputError(path, "no such file")
    try:
        reports = ds.dataset(path, format=kind)
        missing = [name for name in _FIELDS if name not in reports.schema.names]
        if missing:
            raise InputError(path, "is missing from the reports", where=f"field {missing[0]}")
        yield from reports.to_batches(columns=list(_FIELDS))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError(path, f"must be {kind} reports throughout") from None


def _format_of(path: Path) -> str:
    if path.suffix not in _FORMATS:
        raise InputError(path, f"must be a file of reports ({', '.join(_FORMATS)})")
    return _FORMATS[path.suffix]


def _require_constant(path: Path, batch: pa.RecordBatch, field: str, expected: object) -> None:
    try:
        values = [value.as_py() for value in batch.column(field).unique()]
    except UnicodeDecodeError:
        raise InputError(path, "must be a text in UTF-8", where=f"field {field}") from None
    if any(type(value) is not type(expected) or value != expected for value in values):
        what = "another head list" if field == "head_list" else f"another {field}"
        raise HeadListMismatchError(f"{path}: has reports made for {what}")
