"""From paths, folders and patterns to files, and from files to a format."""

import gzip
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, find_log_files, open_log

CSV = "user,query,url\nu,q,w\n"


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CSV)


def test_a_folder_gives_its_logs_sorted_and_passes_over_the_rest(tmp_path: Path) -> None:
    make(tmp_path, "b.csv", "a.tsv.gz", "sub/c.txt", "sub/deep/d.tab.zst", "e.parquet", "F.CSV")
    make(tmp_path, "_SUCCESS", "_tmp/x.csv", ".x.csv", ".git/x.csv", "README.txt", "a.py", "e.json")
    (tmp_path / "folder.csv").mkdir()
    names = [str(path.relative_to(tmp_path)) for path in find_log_files([tmp_path])]
    assert names == [
        "F.CSV",
        "a.tsv.gz",
        "b.csv",
        "e.parquet",
        "sub/c.txt",
        "sub/deep/d.tab.zst",
    ]


def test_files_keep_the_order_given_and_come_once(tmp_path: Path) -> None:
    make(tmp_path, "a.csv", "b.csv", "c.csv")
    found = find_log_files([tmp_path / "c.csv", str(tmp_path), tmp_path / "a.csv"])
    assert [path.name for path in found] == ["c.csv", "a.csv", "b.csv"]


def test_a_pattern_gives_what_matches_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "day2/b.log", "day1/a.log", "day1/c.csv", "other/d.log")
    monkeypatch.chdir(tmp_path)
    for pattern in ("day*/*.log", str(tmp_path / "day?" / "*.log")):
        assert [path.name for path in find_log_files([pattern])] == ["a.log", "b.log"]
    assert [path.name for path in find_log_files("**/*.log")] == ["a.log", "b.log", "d.log"]


def test_a_pattern_may_match_folders(tmp_path: Path) -> None:
    make(tmp_path, "day1/a.csv", "day2/b.csv")
    assert [path.name for path in find_log_files(tmp_path / "day*")] == ["a.csv", "b.csv"]


def test_a_name_that_is_there_is_no_pattern(tmp_path: Path) -> None:
    make(tmp_path, "a[1].csv", "a1.csv")
    assert [path.name for path in find_log_files(tmp_path / "a[1].csv")] == ["a[1].csv"]


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("nothing.csv", "there is no such file or folder"),
        ("*.csv", "no file matches this pattern"),
        (
            "empty",
            "the folder holds no log: "
            ".parquet, .arrow, .feather, .orc, or .csv, .tsv, .txt, .tab, .jsonl, .ndjson, "
            "alone or with .gz, .zst, .bz2 or .xz",
        ),
        ("pipe", "it must be a regular file, because it is read more than once"),
    ],
)
def test_a_path_that_stands_for_nothing_is_refused(tmp_path: Path, path: str, rule: str) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError) as refusal:
        find_log_files([tmp_path / path])
    assert str(refusal.value) == f"{tmp_path / path}: {rule}"


def test_no_path_at_all_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"^paths must be at least one file or folder"):
        find_log_files([])


AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", CSV, LogFormat.CSV),
        ("a.CSV", CSV, LogFormat.CSV),
        ("a.tsv", "user\tquery\turl\n", LogFormat.TSV),
        ("a.txt", "user\tquery\turl\n", LogFormat.TSV),
        ("a.tab", "user\tquery\turl\n", LogFormat.TSV),
        ("a.txt", f"{AOL}\n", LogFormat.AOL),
        ("a.log", f"\ufeff{AOL}\r\n", LogFormat.AOL),
        ("a.csv", f"{AOL}", LogFormat.AOL),
        ("train", "0\tM\t3\t900\n", LogFormat.YANDEX),
        ("train.tsv", "0\tM\t3\t900\r\n", LogFormat.YANDEX),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_format_is_told_from_name_and_first_line(
    tmp_path: Path,
    connection: duckdb.DuckDBPyConnection,
    name: str,
    text: str,
    expected: LogFormat,
    is_packed: bool,
) -> None:
    path = tmp_path / (f"{name}.gz" if is_packed else name)
    path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    assert open_log(connection, path).format is expected


def test_parquet_is_known_by_its_first_bytes(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = tmp_path / "log.data"
    pq.write_table(pa.table({"user": ["u"], "query": ["q"], "url": ["w"]}), path)
    assert open_log(connection, path).format is LogFormat.PARQUET


def test_an_unknown_format_must_be_named(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = tmp_path / "log.data"
    path.write_text("who,what,where\nu,q,w\n")
    with pytest.raises(InputError) as refusal:
        open_log(connection, path)
    rule = "neither its name nor its first line tells the format; give --format"
    assert str(refusal.value) == f"{path}: {rule} (in Python: Log(format=…))"
    names = LogColumns(user="who", query="what", url="where")
    assert open_log(connection, path, columns=names).format is LogFormat.CSV
    path.write_text(CSV)
    assert open_log(connection, path, format=LogFormat.CSV).format is LogFormat.CSV


def test_files_of_two_formats_are_refused(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    make(tmp_path, "a.csv")
    (tmp_path / "b.txt").write_text(f"{AOL}\n")
    with pytest.raises(InputError) as refusal:
        open_log(connection, tmp_path)
    assert str(refusal.value) == (
        f"{tmp_path / 'b.txt'}: it looks like aol, but {tmp_path / 'a.csv'} looks like csv; "
        "give files of one format at a time, or --format (in Python: Log(format=…))"
    )
