"""CSV and TSV: columns by name, nasty values, many files."""

import gzip
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, LogSource, open_log

Rows = Callable[[LogSource], list[tuple[int, str | None, str | None, str | None]]]

TSV_HEADER = "user\tquery\turl\n"
CSV_HEADER = "user,query,url\n"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def test_a_tsv_file_gives_its_rows_and_its_facts(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    path = write(tmp_path / "log.tsv", TSV_HEADER + "u1\tweather\tw.example\nu2\tnews\tn.example\n")
    source = open_log(connection, [path])
    assert rows_of(source) == [(0, "u1", "weather", "w.example"), (1, "u2", "news", "n.example")]
    assert source.format is LogFormat.TSV
    assert source.files == (path,)
    assert source.bytes == path.stat().st_size
    assert not source.rescans_cheaply


def test_the_columns_have_the_promised_names_and_types(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = write(tmp_path / "log.csv", "user,query,url,side\nu,q,w,client\n")
    source = open_log(connection, path, columns=LogColumns(group="side"))
    described = connection.execute(f"DESCRIBE {source.sql}").fetchall()
    assert [(name, kind) for name, kind, *_ in described] == [
        ("row", "BIGINT"),
        ("user", "VARCHAR"),
        ("user_key", "BIGINT"),
        ("query", "VARCHAR"),
        ("url", "VARCHAR"),
        ("opt_in", "BOOLEAN"),
    ]


def test_the_user_key_follows_from_the_user(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = write(tmp_path / "log.csv", CSV_HEADER + "a,q,w\nb,q,w\na,q2,w\n")
    sql = open_log(connection, path).sql
    keys = connection.execute(f"SELECT user_key, (hash(user) >> 1)::BIGINT FROM ({sql})").fetchall()  # noqa: S608
    assert all(key == expected >= 0 for key, expected in keys)
    assert len({key for key, _ in keys}) == 2


NASTY = [
    '"',
    '"quoted"',
    'say ""hello""',
    "it's",
    "back\\slash\\n",
    "*",
    "★",
    "NULL",
    "null",
    "\\N",
    "\\1",
    "-",
    "#comment",
    " padded ",
    "a,b;c|d",
    "ünïcödé",
    "🦆",
    "\u2028\u0085\x0b\x0c",
    "\u202eright to left",
    "e\u0301",
    "\x01\x7f",
    "\ufeffmark",
    "{'a': 1}",
    "x" * 500_000,
]


def test_a_tsv_value_is_taken_as_it_stands(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    lines = [f"u{i}\t{value}\t{value}\n" for i, value in enumerate(NASTY)]
    source = open_log(connection, write(tmp_path / "log.tsv", TSV_HEADER + "".join(lines)))
    assert rows_of(source) == [(i, f"u{i}", value, value) for i, value in enumerate(NASTY)]


def test_a_csv_value_in_quotes_may_hold_anything(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    values = [*NASTY, "tab\there", "line\nbreak", "carriage\rreturn", "both\r\nof them"]
    quoted = ['"' + value.replace('"', '""') + '"' for value in values]
    lines = [f"u{i},{value},{value}\n" for i, value in enumerate(quoted)]
    source = open_log(connection, write(tmp_path / "log.csv", CSV_HEADER + "".join(lines)))
    assert rows_of(source) == [(i, f"u{i}", value, value) for i, value in enumerate(values)]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("ends", [("\n", "\n"), ("\r\n", "\r\n"), ("\n", "\r\n"), ("\r\n", "\n")])
def test_line_ends_may_be_mixed_and_the_last_may_be_missing(
    tmp_path: Path,
    connection: duckdb.DuckDBPyConnection,
    rows_of: Rows,
    suffix: str,
    ends: tuple[str, str],
) -> None:
    lines = ["user,query,url", "u0,q0,w0", "u1,q1,w1", "u2,q2,w2"]
    text = "".join(line + ends[i % 2] for i, line in enumerate(lines)).removesuffix("\n")
    path = write(tmp_path / f"log.{suffix}", text.replace(",", "," if suffix == "csv" else "\t"))
    expected = [(i, f"u{i}", f"q{i}", f"w{i}") for i in range(3)]
    assert rows_of(open_log(connection, path)) == expected


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_byte_order_mark_and_blank_lines_are_passed_over(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows, suffix: str
) -> None:
    text = "\ufeffuser,query,url\n\nu0,q0,w0\n\n\r\nu1,q1,w1\n\n"
    path = write(tmp_path / f"log.{suffix}", text.replace(",", "," if suffix == "csv" else "\t"))
    expected = [(0, "u0", "q0", "w0"), (1, "u1", "q1", "w1")]
    assert rows_of(open_log(connection, path)) == expected


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_row_without_both_parts_is_kept_as_no_record(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows, suffix: str
) -> None:
    text = "user,query,url\na,,w\nb,q,\nc,  ,w\nd,q, \ne,,\n,q,w\n  ,q,w\n f, q,w \n"
    path = write(tmp_path / f"log.{suffix}", text.replace(",", "," if suffix == "csv" else "\t"))
    assert rows_of(open_log(connection, path)) == [
        *((i, user, None, None) for i, user in enumerate("abcde")),
        (5, None, "q", "w"),
        (6, None, "q", "w"),
        (7, " f", " q", "w "),
    ]


def test_columns_are_found_by_name_in_any_order(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    columns = LogColumns(user='the "user"', query="q'y", url="URL")
    header = '''"the ""user""",other,url,URL,q'y\n'''
    path = write(tmp_path / "log.csv", header + "u,x,wrong,w,q\n")
    assert rows_of(open_log(connection, path, columns=columns)) == [(0, "u", "q", "w")]


def test_one_column_may_serve_twice(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    path = write(tmp_path / "plays.csv", "user,artist\nu,Nina Simone\n")
    columns = LogColumns(query="artist", url="artist")
    assert rows_of(open_log(connection, path, columns=columns)) == [
        (0, "u", "Nina Simone", "Nina Simone")
    ]


def test_files_may_differ_in_order_packing_and_line_ends(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    texts = {
        "1.csv": "user,query,url\na,q1,w1\nb,q2,w2\n",
        "2.csv": "url,note,query,user\r\nw3,x,q3,c\r\n",
        "5.csv": "user,query,url\na,q6,w6\r\nb,q7,w7\n",
    }
    for name, text in texts.items():
        write(tmp_path / name, text)
    (tmp_path / "3.csv.gz").write_bytes(gzip.compress(b"query,url,user\nq4,w4,d\n"))
    (tmp_path / "4.csv.zst").write_bytes(zstd(b"user,query,url\ne,q5,w5\n"))
    source = open_log(connection, tmp_path)
    users = "abcdeab"
    assert rows_of(source) == [(i, users[i], f"q{i + 1}", f"w{i + 1}") for i in range(7)]
    assert [path.name for path in source.files] == [
        "1.csv",
        "2.csv",
        "3.csv.gz",
        "4.csv.zst",
        "5.csv",
    ]


def test_a_gzip_file_of_several_members_is_read_to_its_end(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    path = tmp_path / "log.tsv.gz"
    path.write_bytes(gzip.compress(TSV_HEADER.encode()) + gzip.compress(b"u\tq\tw\n"))
    assert rows_of(open_log(connection, path)) == [(0, "u", "q", "w")]


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz"])
def test_rows_are_numbered_in_file_order_on_every_scan(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, suffix: str
) -> None:
    separator = "," if suffix == "csv" else "\t"
    count = 30_000
    for part in range(3):
        names = ["user", "query", "url"] if part != 1 else ["url", "user", "query"]
        lines = [separator.join(names)] + [
            separator.join([str(part * count + i)] * 3) for i in range(count)
        ]
        text = ("\n".join(lines) + "\n").encode()
        is_packed = suffix.endswith("gz")
        (tmp_path / f"{part}.{suffix}").write_bytes(gzip.compress(text, 1) if is_packed else text)
    sql = open_log(connection, tmp_path).sql
    query = f'SELECT count(*), bool_and("row"::VARCHAR = user AND user = query) FROM ({sql})'  # noqa: S608
    for _ in range(2):
        assert connection.execute(query).fetchall() == [(3 * count, True)]


def test_rows_across_many_of_duckdbs_buffers_are_all_there(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    long = "y" * 100_000
    lines = "".join(f"{i}\tq{i}\t{long}\n" for i in range(400))
    sql = open_log(connection, write(tmp_path / "log.tsv", TSV_HEADER + lines)).sql
    query = f"SELECT count(*), sum(user::INT), min(length(url)), max(row) FROM ({sql})"  # noqa: S608
    expected = (400, 399 * 400 // 2, 100_000, 399)
    assert connection.execute(query).fetchall() == [expected]
    query = f"SELECT user::INT = row AND query = 'q' || row FROM ({sql})"  # noqa: S608
    assert all(same for (same,) in connection.execute(query).fetchall())


@pytest.mark.parametrize(
    "name",
    ["a[1].tsv", "a*.tsv", "a?.tsv", 'it\'s "x".tsv', "~.tsv", "a b;c,d.tsv", "day=3/ü★.tsv"],
)
def test_any_file_name_is_taken_literally(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows, name: str
) -> None:
    for decoy in ("a1.tsv", "ab.tsv"):
        write(tmp_path / decoy, TSV_HEADER + "decoy\tq\tw\n")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    write(path, TSV_HEADER + "u\tq\tw\n")
    assert rows_of(open_log(connection, path)) == [(0, "u", "q", "w")]


def test_a_header_alone_is_an_empty_log(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    for text in (TSV_HEADER, TSV_HEADER.removesuffix("\n")):
        assert rows_of(open_log(connection, write(tmp_path / "log.tsv", text))) == []


def test_surplus_values_of_csv_may_be_blank(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, rows_of: Rows
) -> None:
    for ends in ("\n\n", "\n\r\n"):
        path = write(tmp_path / "log.csv", CSV_HEADER + f"a,q,w,{ends[0]}b,q,w,,{ends[1:]}")
        assert [user for _, user, _, _ in rows_of(open_log(connection, path))] == ["a", "b"]
