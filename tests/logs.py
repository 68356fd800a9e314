"""Small logs for tests: who did what, written the way a person would hand it over."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PLANTED = "xyzzy"
"""Planted where somebody's data stands; it must never come back in a message."""

HEADER = ("user", "query", "url")
GROUPED_HEADER = (*HEADER, "side")

Row = Sequence[str]


def popular_rows(users: int = 400, queries: int = 5) -> list[Row]:
    """Return one record per user; every query is about as popular as the others."""
    return [(f"user {i}", f"query {i % queries}", f"{i % queries}.example") for i in range(users)]


def secret_rows(users: int = 60) -> list[Row]:
    """Return rows whose every field is somebody's and must not be repeated."""
    return [
        (f"{PLANTED}-user-{i}", f"{PLANTED} query {i}", f"{PLANTED}.example/{i}")
        for i in range(users)
    ]


def grouped(rows: Iterable[Row], *, opt_in_every: int = 2) -> list[Row]:
    """Add the group column: every so manieth user opted in; none for 0."""
    return [
        (*row, "opt-in" if opt_in_every and i % opt_in_every == 0 else "client")
        for i, row in enumerate(rows)
    ]


def write_csv(path: Path, rows: Iterable[Row], header: Sequence[str] = HEADER) -> Path:
    """Write rows as CSV below a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path


def write_tsv(path: Path, rows: Iterable[Row], header: Sequence[str] = HEADER) -> Path:
    """Write rows as tab-separated values below a header."""
    lines = ["\t".join(row) + "\n" for row in (header, *rows)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_parquet(path: Path, rows: Sequence[Row], header: Sequence[str] = HEADER) -> Path:
    """Write rows as a Parquet file."""
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    pq.write_table(pa.table(dict(zip(header, columns, strict=True))), path)
    return path
