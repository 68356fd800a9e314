"""AOL's log as released."""

import gzip
from collections.abc import Callable
from pathlib import Path

import duckdb

from blender_dp.engine.duckdb.readers import LogFormat, LogSource, open_log

Rows = Callable[[LogSource], list[tuple[int, str | None, str | None, str | None]]]

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
TIME = "2006-03-01 07:17:12"


def test_a_click_is_a_record_and_a_query_without_one_is_not(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    path = tmp_path / "user-ct-test-collection-01.txt"
    path.write_text(
        HEADER
        + f"142\trentdirect.com\t{TIME}\t\t\n"
        + f'217\t"lottery\t{TIME}\t1\thttp://www.calottery.com\n'
        + f"993\t-\t{TIME}\t1\thttp://www.example.com\n"
        + f"1268\tshort\t{TIME}\n"
        + f"1268\tshort\t{TIME}\t\r\n"
        + f"1326\tback\t{TIME}\t3\thttp://b.example\r\n"
    )
    source = open_log(connection, path)
    assert source.format is LogFormat.AOL
    assert rows_of(source) == [
        (0, "142", None, None),
        (1, "217", '"lottery', "http://www.calottery.com"),
        (2, "993", None, None),
        (3, "1268", None, None),
        (4, "1268", None, None),
        (5, "1326", "back", "http://b.example"),
    ]


def test_the_folder_as_released_can_be_given_whole(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    (tmp_path / "U500k_README.txt").write_text("500k User Session Collection\n")
    for part in range(1, 4):
        text = f"{HEADER}{part}\tq{part}\t{TIME}\t1\thttp://w.example\n".encode()
        is_packed = part != 2
        name = f"user-ct-test-collection-0{part}.txt" + (".gz" if is_packed else "")
        (tmp_path / name).write_bytes(gzip.compress(text) if is_packed else text)
    assert rows_of(open_log(connection, tmp_path)) == [
        (part - 1, str(part), f"q{part}", "http://w.example") for part in range(1, 4)
    ]
