"""Every flaw in a text is refused in one sentence: file, place, rule, and nothing of the log."""

import csv
import gzip
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import LogFormat, LogSource, explain_failure, open_log

Refusal = Callable[..., str]

PLANTED = "xyzzy"  # what refusal_of looks for
WIDTH = "the row has the wrong number of columns"
NOT_UTF8 = "the text is not UTF-8; if it is Latin-1, `iconv -f LATIN1 -t UTF-8` converts it"
QUOTES = 'the quotes do not match; a quote inside a quoted value is written as ""'
TOO_LONG = "the line is longer than 2000000 bytes"
KINDS = "the line is not one of Yandex's: M with 4 values, Q or T with 6 and more, C with 5"

TSV = b"user\tquery\turl\n"
ROW = f"u{PLANTED}\tq{PLANTED}\tw{PLANTED}\n".encode()
AOL = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
CLICK = f"7\tq{PLANTED}\t2006-03-01 07:17:12\t1\thttp://{PLANTED}.example\n".encode()
SESSION = b"0\tM\t3\t900\n"


def as_csv(text: bytes) -> bytes:
    return text.replace(b"\t", b",")


@pytest.mark.parametrize(
    ("name", "content", "where", "rule"),
    [
        ("few.tsv", TSV + ROW + b"u\tq\n" + ROW, 3, WIDTH),
        ("many.tsv", TSV + ROW + ROW[:-1] + b"\tmore\n" + ROW, 3, WIDTH),
        ("many-blank.tsv", TSV + ROW[:-1] + b"\t\n", 2, WIDTH),
        ("after-blank-lines.tsv", TSV + b"\n\r\n" + ROW + b"\nu\tq\r\n", 6, WIDTH),
        ("lone-return.tsv", TSV + ROW + b"u\tq\rq\tw\n", 3, WIDTH),
        ("spaces.tsv", TSV + ROW + b"  \n", 3, WIDTH),
        (
            "latin1.tsv",
            TSV + ROW * 2 + b"u\tcaf\xe9 " + PLANTED.encode() + b"\tw\n" + ROW,
            4,
            NOT_UTF8,
        ),
        ("half-a-letter.tsv", TSV + ROW + b"u\tq\tw\xe2\x98", 3, NOT_UTF8),
        ("surrogate.tsv", TSV + ROW + b"u\t\xed\xa0\x80\tw\n", 3, NOT_UTF8),
        ("utf16.tsv", (TSV + ROW[:-1] + b"\tmore\n").decode().encode("utf-16"), 2, WIDTH),
        ("long.tsv", TSV + ROW + b"u\t" + PLANTED.encode() * 500_000 + b"\tw\n", 3, TOO_LONG),
        ("few.csv", as_csv(TSV + ROW) + b"u,q\n", 3, WIDTH),
        ("many.csv", as_csv(TSV + ROW + ROW[:-1]) + b",more\n" + as_csv(ROW), 3, WIDTH),
        ("latin1.csv", as_csv(TSV + ROW) + b'u,"\xfc' + PLANTED.encode() + b'",w\n', 3, NOT_UTF8),
        ("long.csv", as_csv(TSV) + b"u," + PLANTED.encode() * 500_000 + b",w\n", 2, TOO_LONG),
        ("open.csv", as_csv(TSV + ROW) + b'u,q,"w\n' + as_csv(ROW * 2), 3, QUOTES),
        ("open-long.csv", as_csv(TSV + ROW) + b'u,q,"w\n' + as_csv(ROW * 90_000), 3, QUOTES),
        ("after-quote.csv", as_csv(TSV + ROW) + b'u,"q"q,w\n' + as_csv(ROW), 3, QUOTES),
        ("after-breaks.csv", as_csv(TSV) + b'u,"a\nb\nc",w\nu,q\n', 5, WIDTH),
        ("mixed-few.csv", as_csv(TSV + ROW) + b"u,q\r\n", 3, WIDTH),
        ("mixed-many.csv", as_csv(TSV + ROW[:-1]) + b",more\r\n", 2, WIDTH),
        ("mixed-open.csv", as_csv(TSV) + b'a,b,c\r\nu,q,"w\n' + as_csv(ROW), 3, QUOTES),
        ("mixed-after-quote.csv", as_csv(TSV) + b'a,b,c\r\nu,"q"q,w\n', 3, QUOTES),
        ("mixed-latin1.csv", as_csv(TSV + ROW) + b"u,\xe9,w\r\n", 3, NOT_UTF8),
        ("few.txt", AOL + CLICK + b"7\tq\n", 3, WIDTH),
        ("many.txt", AOL + CLICK + CLICK[:-1] + b"\tmore\n", 3, WIDTH),
        ("latin1.txt", AOL + CLICK + CLICK.replace(b"q", b"\xe9"), 3, NOT_UTF8),
        ("m.txt", SESSION + b"0\tM\t3\t900\t1\n", 2, KINDS),
        ("m-short.txt", SESSION + b"0\tM\t3\n", 2, KINDS),
        ("c.txt", SESSION + b"0\t1\tC\t0\n", 2, KINDS),
        ("c-long.txt", SESSION + b"0\t1\tC\t0\t1\t2\n", 2, KINDS),
        ("q.txt", SESSION + b"0\t1\tQ\t0\t1\n", 2, KINDS),
        ("kind.txt", SESSION + b"0\t1\t" + PLANTED.encode() + b"\t0\t1\n", 2, KINDS),
        ("word.txt", SESSION + PLANTED.encode() + b"\n", 2, KINDS),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value and " " not in value else "",
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_bad_row_is_named_by_its_line(
    *,
    tmp_path: Path,
    refusal_of: Refusal,
    name: str,
    content: bytes,
    where: int,
    rule: str,
    is_packed: bool,
) -> None:
    path = tmp_path / (f"{name}.gz" if is_packed else name)
    path.write_bytes(gzip.compress(content, 1) if is_packed else content)
    limit = csv.field_size_limit()
    assert refusal_of(path) == f"{path}, line {where}: {rule}"
    assert csv.field_size_limit() == limit


def test_the_right_one_of_many_files_is_named(tmp_path: Path, refusal_of: Refusal) -> None:
    for part in range(4):
        (tmp_path / f"{part}.tsv").write_bytes(TSV + ROW * 5)
    (tmp_path / "2.tsv").write_bytes(TSV + ROW * 5 + b"u\n")
    assert refusal_of(tmp_path) == f"{tmp_path / '2.tsv'}, line 7: {WIDTH}"


NAMELESS = (
    "the first line must name the columns, but does not have all of user, query, url; "
    "if it has other names, choose with --user, --query, --url"
)
BLANK = ", line 1: the first line must name the columns, but is blank"


def no_column(name: str, there: str) -> str:
    return f": there is no column {name}, only {there}; choose with --{name}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.tsv", b"", ": the file is empty"),
        ("mark.tsv", b"\xef\xbb\xbf", ": the file is empty"),
        ("empty.parquet", b"", ": the file is empty"),
        ("packed.tsv.gz", gzip.compress(b""), ": the file is empty"),
        ("empty.tsv.gz", b"", ": the file is empty"),
        ("blank.tsv", b"\n" + TSV + ROW, BLANK),
        ("blank.csv", b"  \r\nuser,query,url\n", BLANK),
        ("nameless.tsv", ROW * 2, f", line 1: {NAMELESS}"),
        ("nameless.csv", as_csv(ROW), f", line 1: {NAMELESS}"),
        ("quote.csv", b'"user,query,url\n' + as_csv(ROW), f", line 1: {QUOTES}"),
        ("missing.tsv", b"user\tterm\turl\n" + ROW, no_column("query", "user, term, url")),
        ("case.csv", b"User,USER,query,url\n", ": there is more than one column user"),
        ("twice.csv", b"user,query,url,url\nu,q,w,w\n", ": there is more than one column url"),
        ("plain.tsv.gz", TSV + ROW, ": the name ends in .gz, but the content is not gzip"),
        ("plain.tsv.zst", TSV + ROW, ": the name ends in .zst, but the content is not zstd"),
        ("text.parquet", TSV + ROW, ": it is not a Parquet file"),
    ],
    ids=lambda value: value if isinstance(value, str) and ":" not in value else "",
)
def test_a_file_that_begins_wrong_is_refused(
    tmp_path: Path, refusal_of: Refusal, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal_of(path) == f"{path}{message}"


def test_aols_header_is_required_when_the_format_is_named(
    tmp_path: Path, refusal_of: Refusal
) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(CLICK)
    names = "AnonID, Query, QueryTime, ItemRank, ClickURL"
    rule = f"AOL's logs begin with these tab-separated columns: {names}"
    assert refusal_of(path, LogFormat.AOL) == f"{path}, line 1: {rule}"


@pytest.mark.parametrize("name", ["log.tsv", "log.parquet"])
def test_a_file_that_may_not_be_read_is_refused(
    tmp_path: Path,
    refusal_of: Refusal,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    path = tmp_path / name
    path.write_bytes(TSV + ROW)

    # The mode of the file would not keep out a test that runs as root.
    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny)
    assert refusal_of(path) == f"{path}: permission to read it is denied"


def test_other_trouble_of_the_system_is_named(
    tmp_path: Path, refusal_of: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.tsv"
    path.write_bytes(TSV + ROW)

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    assert refusal_of(path) == f"{path}: it cannot be read: Input/output error"


def test_a_file_that_vanishes_is_named(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, scan: Callable[[LogSource], None]
) -> None:
    path = tmp_path / "log.tsv"
    path.write_bytes(TSV + ROW)
    source = open_log(connection, path)
    path.unlink()
    with pytest.raises(InputError) as refusal:
        scan(source)
    assert str(refusal.value) == f"{path}: there is no such file or folder"


@pytest.mark.parametrize(
    "error", [duckdb.OutOfMemoryException("x"), duckdb.BinderException("no such column")]
)
def test_a_failure_that_is_no_fault_of_the_log_has_no_explanation(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, error: duckdb.Error
) -> None:
    path = tmp_path / "log.tsv"
    path.write_bytes(TSV + ROW)
    assert explain_failure(error, open_log(connection, path)) is None


def test_of_duckdbs_words_only_a_line_number_is_repeated(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    for part in range(3):
        (tmp_path / f"{part}.csv").write_bytes(as_csv(TSV + ROW))
    source = open_log(connection, tmp_path)
    error = duckdb.InvalidInputException(
        f"Invalid Input Error: CSV Error on Line: 12\nOriginal Line: {PLANTED}\n"
    )
    assert str(explain_failure(error, source)) == (
        f"{tmp_path / '0.csv'} or one of the 2 others, line 12: DuckDB cannot read the row as csv"
    )
