"""Parquet: any type, many files, row numbers from the footers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, LogSource, open_log

Rows = Callable[[LogSource], list[tuple[int, str | None, str | None, str | None]]]


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_a_file_gives_its_rows_and_may_be_scanned_again(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    columns = {
        "url": ["w", "w", None, "", "  ", "★"],
        "user": ["a", None, "c", "d", "", "f"],
        "query": ["q", "*", "q", "q", "q", '"'],
    }
    source = open_log(connection, write(tmp_path / "log.parquet", columns))
    assert source.format is LogFormat.PARQUET
    assert source.rescans_cheaply
    assert rows_of(source) == [
        (0, "a", "q", "w"),
        (1, None, "*", "w"),
        (2, "c", None, None),
        (3, "d", None, None),
        (4, None, None, None),
        (5, "f", '"', "★"),
    ]


def test_values_of_any_type_become_text(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    columns = {"user": [17], "query": ["größe".encode()], "url": [2.5]}
    path = write(tmp_path / "log.parquet", columns)
    assert rows_of(open_log(connection, path)) == [(0, "17", "größe", "2.5")]


def test_files_may_differ_in_the_order_and_type_of_columns(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    write(tmp_path / "1.parquet", {"user": [1, 2], "query": ["a", "b"], "url": ["v", "w"]})
    write(tmp_path / "2.parquet", {"user": pa.array([], pa.string()), "query": [], "url": []})
    write(tmp_path / "3.parquet", {"url": ["x"], "extra": [1], "query": ["c"], "user": ["three"]})
    write(tmp_path / "4.parquet", {"url": ["y"], "extra": [1], "query": ["d"], "user": ["four"]})
    write(tmp_path / "5.parquet", {"user": [5], "query": ["e"], "url": ["z"]})
    assert rows_of(open_log(connection, tmp_path)) == [
        (0, "1", "a", "v"),
        (1, "2", "b", "w"),
        (2, "three", "c", "x"),
        (3, "four", "d", "y"),
        (4, "5", "e", "z"),
    ]


def test_rows_are_numbered_over_all_files_and_row_groups(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    start = 0
    for part, count in enumerate([30_000, 1, 0, 70_000, 5_000]):
        users = pa.array(range(start, start + count), pa.int64())
        path = tmp_path / "day=1" / f"part-{part}.parquet"
        path.parent.mkdir(exist_ok=True)
        write(path, {"user": users, "query": users, "url": users}, row_group_size=4_000)
        start += count
    source = open_log(connection, tmp_path)
    assert source.sql.count("read_parquet") == 1
    query = f'SELECT count(*), bool_and("row"::VARCHAR = user AND user = url) FROM ({source.sql})'  # noqa: S608
    for _ in range(2):
        assert connection.execute(query).fetchall() == [(start, True)]


@pytest.mark.parametrize("hidden", ["file_row_number", "File_Index"])
def test_a_column_named_as_one_of_duckdbs_own_does_no_harm(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows, hidden: str
) -> None:
    for part in range(2):
        columns = {"user": ["a", "b"], "query": ["q", "r"], "url": ["w", "x"], hidden: [7, 7]}
        write(tmp_path / f"{part}.parquet", columns)
    write(tmp_path / "2.parquet", {"user": ["a", "b"], "query": ["q", "r"], "url": ["w", "x"]})
    expected = [(i, "ab"[i % 2], "qr"[i % 2], "wx"[i % 2]) for i in range(6)]
    assert rows_of(open_log(connection, tmp_path)) == expected


def test_odd_column_and_file_names_are_quoted(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    path = write(tmp_path / "it's [a] *?.parquet", {'a"b': ["u"], "c'd": ["q"], "select": ["w"]})
    columns = LogColumns(user='a"b', query="c'd", url="select")
    assert rows_of(open_log(connection, path, columns=columns)) == [(0, "u", "q", "w")]


def test_the_scan_reads_only_the_columns_asked_for(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = write(tmp_path / "log.parquet", {"user": ["a"], "query": ["q"], "url": ["w"]})
    sql = open_log(connection, path).sql
    query = f"EXPLAIN SELECT max(user_key), max(row) FROM ({sql})"  # noqa: S608
    [(_, plan)] = connection.execute(query).fetchall()
    scan = plan[plan.upper().index("PARQUET") :]
    assert "user" in scan
    assert "query" not in scan
    assert "url" not in scan
