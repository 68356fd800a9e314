"""Files of reports: one JSON object per line, or a Parquet file with the same fields as columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.json as pj

from blender_dp.core.channels.report import Question
from blender_dp.core.errors import HeadListMismatchError, InputError
from blender_dp.core.head_list.cells import BoolArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.population import ReportCounts
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.published.head_list import head_list_digest, mechanism_name
from blender_dp.wire.reports.packed_items import ItemPacking

VERSION = 1
_FORMATS: dict[str, Literal["json", "parquet"]] = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


NamedTables = Mapping[Question, Iterable[BoolArray]]
"""For each question, tables with one row per client and one column per item."""
ReportFields = Callable[[Question, BoolArray], list[dict[str, Any]]]
"""From such a table to the fields of every report, beside those that all reports share."""


class ReportCounter(Protocol):
    """Counts the items that a file's reports name; refuses reports that no device could send."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of a report, without those that all reports share."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Fields that are texts in JSON."""

    def add(self, path: Path, batch: pa.RecordBatch) -> None:
        """Count some reports."""

    def counts(self) -> ReportCounts:
        """Return everything counted so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """Functions that write and read the reports of one layout."""

    report_fields: Callable[[HeadList], ReportFields]
    """Returns the fields of reports in JSON; prepared once for all reports to a list."""
    write: Callable[[Path, HeadList, NamedTables], int]
    """Writes a file of reports in an order that reveals nothing; returns their number."""
    packings: Callable[[HeadList], Mapping[Question, ItemPacking]]
    """Returns the packing of every question that is asked; none if items are not packed."""
    counter: Callable[[HeadList], ReportCounter]
    count_fields: Callable[[ReportCounts], dict[str, Any]]
    """Returns the fields of ``client_estimates.json`` besides the counts by cell."""
    read_counts: Callable[[Fields, IntArray, HeadList], ReportCounts]
    """Reads those fields, given the counts by cell; refuses counts that reports cannot have."""


def shared_fields(head_list: HeadList) -> dict[str, Any]:
    """Return the fields that all reports for one list share."""
    return {
        "version": VERSION,
        "head_list": head_list_digest(head_list),
        "mechanism": mechanism_name(head_list),
    }


def format_of(path: Path) -> Literal["json", "parquet"]:
    """Return the format of a file, by the suffix of its name."""
    if path.suffix not in _FORMATS:
        raise InputError(path, f"must be a file of reports ({', '.join(_FORMATS)})")
    return _FORMATS[path.suffix]


def batches(
    path: Path, fields: Sequence[str], texts: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Read a file piece by piece, only these fields of it.

    Args:
        path: The file.
        fields: The fields that every report must have.
        texts: The fields that are read as texts in JSON, even if they look like dates.
    """
    kind = format_of(path)
    if not path.is_file():
        raise InputError(path, "no such file")
    schema = pa.schema([(name, pa.string()) for name in texts])
    options = pj.ParseOptions(explicit_schema=schema if texts else None)
    # Imported here: only a file of reports needs it, and it takes 0.1 s.
    import pyarrow.dataset as ds  # noqa: PLC0415

    formats = {"json": ds.JsonFileFormat(parse_options=options), "parquet": "parquet"}
    try:
        reports = ds.dataset(path, format=formats[kind])
        missing = [name for name in fields if name not in reports.schema.names]
        if missing:
            raise InputError(path, "is missing from the reports", where=f"field {missing[0]}")
        yield from reports.to_batches(columns=list(fields))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError(path, f"must be {kind} reports throughout") from None


def distinct_values(path: Path, batch: pa.RecordBatch, field: str) -> list[Any]:
    """Return the distinct values of a field."""
    try:
        return [value.as_py() for value in batch.column(field).unique()]
    except UnicodeDecodeError:
        raise InputError(path, "must be a text in UTF-8", where=f"field {field}") from None


def require_constant(path: Path, batch: pa.RecordBatch, field: str, expected: object) -> None:
    """Refuse reports for another list, mechanism or version."""
    values = distinct_values(path, batch, field)
    if any(type(value) is not type(expected) or value != expected for value in values):
        what = "another head list" if field == "head_list" else f"another {field}"
        raise HeadListMismatchError(f"{path}: has reports made for {what}")
