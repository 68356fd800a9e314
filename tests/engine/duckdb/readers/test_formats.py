"""Every row of the tables of formats in the documentation, tried."""

import bz2
import csv
import gzip
import json
import lzma
import re
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, LogSource, open_log

Rows = Callable[[LogSource], list[tuple[int, str | None, str | None, str | None]]]
Make = Callable[[Path], str | Path]
PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "use-your-own-log.md"

ROWS = [("7", "weather; today", "w.example"), ("8", 'say "hi"', "n.example/a,b"), ("7", "★", "é|x")]
TABLE = pa.table(
    {name: [row[i] for row in ROWS] for i, name in enumerate(("user", "query", "url"))}
)
EXPECTED = [(i, *row) for i, row in enumerate(ROWS)]


def csv_text(delimiter: str = ",") -> str:
    text = StringIO()
    csv.writer(text, delimiter=delimiter).writerows([("user", "query", "url"), *ROWS])
    return text.getvalue()


def written(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def json_lines(folder: Path) -> Path:
    return written(folder / "log.jsonl", "".join(json.dumps(o) + "\n" for o in TABLE.to_pylist()))


def json_array(folder: Path) -> Path:
    return written(folder / "log.json", json.dumps(TABLE.to_pylist(), indent=1))


def parquet(folder: Path) -> Path:
    pq.write_table(TABLE, folder / "log.parquet")
    return folder / "log.parquet"


def arrow(folder: Path) -> Path:
    feather.write_feather(TABLE, folder / "log.feather")
    return folder / "log.feather"


def orc_file(folder: Path) -> Path:
    orc.write_table(TABLE, folder / "log.orc")
    return folder / "log.orc"


def sqlite(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "log.db")) as database:
        database.execute('CREATE TABLE searches ("user" INTEGER, query TEXT, url TEXT)')
        database.execute("CREATE TABLE other (x)")
        database.executemany("INSERT INTO searches VALUES (?, ?, ?)", ROWS)
        database.commit()
    return f"{folder / 'log.db'}::searches"


def duckdb_file(folder: Path) -> str:
    with duckdb.connect(str(folder / "log.duckdb")) as database:
        database.execute('CREATE TABLE searches ("user" INTEGER, query TEXT, url TEXT)')
        database.execute("CREATE SCHEMA old; CREATE TABLE old.searches (x INTEGER)")
        database.executemany("INSERT INTO searches VALUES (?, ?, ?)", ROWS)
    return f"{folder / 'log.duckdb'}::searches"


def aol(folder: Path) -> Path:
    lines = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    lines += [f"{user}\t{query}\t2006-03-01 07:17:12\t1\t{url}" for user, query, url in ROWS]
    return written(folder / "log.txt", "\n".join(lines))


def zipped(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "log.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", "about the log")
        archive.writestr("log.csv", csv_text())
    return folder / "log.zip"


FORMATS: dict[str, tuple[LogFormat, list[Make]]] = {
    "CSV": (
        LogFormat.CSV,
        [
            lambda folder: written(folder / "log.csv", csv_text()),
            lambda folder: written(folder / "semicolons.csv", csv_text(";")),
            lambda folder: written(folder / "bars.txt", csv_text("|")),
            lambda folder: written(folder / "tabs.csv", csv_text("\t")),
            lambda folder: written(folder / "no-suffix", csv_text(";")),
        ],
    ),
    "TSV": (
        LogFormat.TSV,
        [
            lambda folder: written(
                folder / "log.tsv",
                "\n".join("\t".join(r) for r in [("user", "query", "url"), *ROWS]),
            )
        ],
    ),
    "JSON lines": (LogFormat.JSON, [json_lines]),
    "JSON array": (LogFormat.JSON, [json_array]),
    "Parquet": (LogFormat.PARQUET, [parquet]),
    "Arrow": (LogFormat.ARROW, [arrow]),
    "ORC": (LogFormat.ORC, [orc_file]),
    "SQLite": (LogFormat.SQLITE, [sqlite]),
    "DuckDB": (LogFormat.DUCKDB, [duckdb_file]),
    "AOL": (LogFormat.AOL, [aol]),
}
PACKINGS: dict[str, list[Make]] = {
    "gzip, zstd": [
        lambda folder: written(folder / "log.csv.gz", gzip.compress(csv_text().encode())),
        lambda folder: written(
            folder / "log.jsonl.gz", gzip.compress(json_lines(folder).read_bytes())
        ),
        lambda folder: written(
            folder / "log.parquet.gz", gzip.compress(parquet(folder).read_bytes())
        ),
        lambda folder: written(
            folder / "log.csv.zst", pa.Codec("zstd").compress(csv_text().encode(), asbytes=True)
        ),
    ],
    "bzip2, xz": [
        lambda folder: written(folder / "log.csv.bz2", bz2.compress(csv_text(";").encode())),
        lambda folder: written(folder / "log.csv.xz", lzma.compress(csv_text().encode())),
        lambda folder: written(
            folder / "log.jsonl.xz", lzma.compress(json_lines(folder).read_bytes())
        ),
    ],
    "zip": [zipped],
    "UTF-16": [
        lambda folder: written(folder / "log.csv", csv_text().encode("utf-16")),
        lambda folder: written(folder / "be.csv", csv_text(";").encode("utf-16-be")),
        lambda folder: written(folder / "log.csv.gz", gzip.compress(csv_text().encode("utf-16"))),
    ],
}


def first_column(heading: str) -> set[str]:
    """Return the first column of a table of the page."""
    table = PAGE.read_text().split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return set(re.findall(r"^\| ([^|]+?) \|", table.split("|---|---|\n")[1], re.MULTILINE))


def test_every_row_of_the_page_is_tried() -> None:
    assert first_column("format") == {*FORMATS, "Yandex"}  # test_yandex.py has its own rows
    elsewhere = {"standard input", "`https://`, `s3://`, `gs://`"}  # tests/cli; test_addresses.py
    assert first_column("packing") == {*PACKINGS, *elsewhere}


@pytest.mark.parametrize(
    ("log_format", "make"),
    [pytest.param(kind, make, id=name) for name, (kind, all_) in FORMATS.items() for make in all_],
)
def test_a_format_gives_the_rows(
    tmp_path: Path,
    connection: duckdb.DuckDBPyConnection,
    rows_of: Rows,
    log_format: LogFormat,
    make: Make,
) -> None:
    source = open_log(connection, make(tmp_path))
    assert source.format is log_format
    for _ in range(2):
        assert rows_of(source) == EXPECTED


@pytest.mark.parametrize(
    "make", [pytest.param(make, id=name) for name, all_ in PACKINGS.items() for make in all_]
)
def test_a_packed_log_gives_the_rows(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows, make: Make
) -> None:
    path = Path(make(tmp_path))
    source = open_log(connection, path)
    assert source.files == (path,)
    for _ in range(2):
        assert rows_of(source) == EXPECTED


@pytest.mark.parametrize("header", ["User,QUERY, Url ", "user,query,url", "\ufeffUSER,Query,URL"])
@pytest.mark.parametrize("name", ["log.csv", "log.json", "log.parquet"])
def test_the_spelling_of_columns_does_not_matter(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows, header: str, name: str
) -> None:
    path = tmp_path / name
    names = header.removeprefix("\ufeff").split(",")
    if path.suffix == ".csv":
        written(path, f"{header}\nu,q,w\n")
    elif path.suffix == ".json":
        written(path, json.dumps([dict(zip(names, "uqw", strict=True))]))
    else:
        pq.write_table(pa.table(dict(zip(names, [["u"], ["q"], ["w"]], strict=True))), path)
    source = open_log(connection, path)
    assert rows_of(source) == [(0, "u", "q", "w")]
    expected = {} if names == ["user", "query", "url"] else dict(
        zip(("user", "query", "url"), names, strict=True)
    )  # fmt: skip
    assert dict(source.found) == expected


def test_a_delimiter_that_was_asked_for_is_taken(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    path = written(tmp_path / "log.txt", "user~query~url\nu~a;b~w\n")
    columns = LogColumns(delimiter="~")
    assert rows_of(open_log(connection, path, columns=columns)) == [(0, "u", "a;b", "w")]


def test_a_user_who_is_not_a_number_is_missing(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    table = pa.table({"user": [1.0, float("nan"), None], "query": ["nan"] * 3, "url": ["NaN"] * 3})
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    written(tmp_path / "a.csv", "user,query,url\n1.0,nan,NaN\nnan,nan,NaN\nNaN,nan,NaN\n")
    for name in ("a.parquet", "a.feather", "a.csv"):
        rows = rows_of(open_log(connection, tmp_path / name))
        assert rows == [(i, user, "nan", "NaN") for i, user in enumerate(["1.0", None, None])]
