"""The three kinds of lines in Yandex's log, and what becomes of them."""

import gzip
from collections.abc import Callable
from pathlib import Path

import duckdb

from blender_dp.engine.duckdb.readers import LogFormat, LogSource, open_log

Rows = Callable[[LogSource], list[tuple[int, str | None, str | None, str | None]]]

PAGES = "\t".join(f"{url},{url + 500}" for url in range(70, 80))
LINES = [
    "0\tM\t3\t900",
    f"0\t0\tQ\t0\t111\t5,6\t{PAGES}",
    "0\t13\tC\t0\t70",
    "0\t15\tC\t0\t71",
    f"0\t40\tT\t1\t222\t7\t{PAGES}",
    "0\t52\tC\t1\t70",
    "0\t60\tC\t9\t70",
    "1\tM\t3\t901",
    f"1\t0\tQ\t0\t333\t5,6\t{PAGES}",
    "2\tM\t4\t900",
    f"2\t0\tQ\t0\t111\t5,6\t{PAGES}",
    "2\t1\tC\t0\t79",
    "7\t1\tC\t0\t79",
]
EXPECTED = [
    (0, "900", None, None),
    (2, "900", "111", "70"),
    (3, "900", "111", "71"),
    (5, "900", "222", "70"),
    (6, "900", None, None),
    (7, "901", None, None),
    (9, "900", None, None),
    (11, "900", "111", "79"),
    (12, None, None, None),
]


def test_a_click_is_a_record_of_its_page_and_of_its_session(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    path = tmp_path / "train"
    path.write_text("\n".join(LINES) + "\n")
    source = open_log(connection, path)
    assert source.format is LogFormat.YANDEX
    assert rows_of(source) == EXPECTED
    assert rows_of(source) == EXPECTED


def test_a_session_may_go_on_in_another_file(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    (tmp_path / "1.gz").write_bytes(gzip.compress("\n".join(LINES[:3]).encode()))
    (tmp_path / "2.txt").write_text("\n".join(LINES[3:]))
    source = open_log(connection, [tmp_path / "1.gz", tmp_path / "2.txt"], format=LogFormat.YANDEX)
    assert rows_of(source) == EXPECTED


def test_a_line_told_twice_multiplies_no_row(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    again = ["0\tM\t3\t999", f"0\t0\tQ\t0\t999\t5,6\t{PAGES}"]
    path = tmp_path / "log.txt"
    path.write_text("\n".join(LINES[:3] + again) + "\n")
    assert rows_of(open_log(connection, path)) == [*EXPECTED[:2], (3, "900", None, None)]
