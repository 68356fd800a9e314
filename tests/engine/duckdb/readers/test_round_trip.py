"""What is written as CSV, TSV or Parquet is read back as it was."""

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.engine.duckdb.readers import open_log

Log = list[tuple[str, str, str]]
HEADER = ("user", "query", "url")

# No surrogates: they are no text, and cannot be written as UTF-8.
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
one_line = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=12
)
nasty = st.text("\"',\t\r\n\\ \ufeffaé★🦆\0#-", max_size=6)
nasty_line = st.text("\"',\\ \ufeffaé★🦆\0#-", max_size=6)


def write_csv(path: Path, log: Log) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([HEADER, *log])


def write_tsv(path: Path, log: Log) -> None:
    lines = "".join("\t".join(row) + "\n" for row in [HEADER, *log])
    path.write_bytes(lines.encode())


def write_parquet(path: Path, log: Log) -> None:
    columns = [pa.array([row[i] for row in log], pa.string()) for i in range(3)]
    pq.write_table(pa.table(columns, names=HEADER), path)


def expected(log: Log) -> list[tuple[int, str | None, str | None, str | None]]:
    rows: list[tuple[int, str | None, str | None, str | None]] = []
    for i, (user, query, url) in enumerate(log):
        is_record = bool(query.strip(" ") and url.strip(" "))
        rows.append(
            (
                i,
                user if user.strip(" ") else None,
                query if is_record else None,
                url if is_record else None,
            )
        )
    return rows


def logs(value: st.SearchStrategy[str]) -> st.SearchStrategy[Log]:
    return st.lists(st.tuples(value, value, value), max_size=8)


def read_back(
    connection: duckdb.DuckDBPyConnection, suffix: str, write: Callable[[Path, Log], None], log: Log
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log.{suffix}"
        write(path, log)
        sql = open_log(connection, path).sql
        rows = connection.execute(f"SELECT row, user, query, url FROM ({sql})").fetchall()  # noqa: S608
    assert rows == expected(log)


@settings(max_examples=60, deadline=None)
@given(log=logs(anything | nasty))
@pytest.mark.parametrize(("suffix", "write"), [("csv", write_csv), ("parquet", write_parquet)])
def test_any_text_survives_csv_and_parquet(
    connection: duckdb.DuckDBPyConnection, suffix: str, write: Callable[[Path, Log], None], log: Log
) -> None:
    read_back(connection, suffix, write, log)


@settings(max_examples=60, deadline=None)
@given(log=logs(one_line | nasty_line))
def test_any_text_without_tabs_and_line_ends_survives_tsv(
    connection: duckdb.DuckDBPyConnection, log: Log
) -> None:
    read_back(connection, "tsv", write_tsv, log)
