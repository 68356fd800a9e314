"""On Spark a log has the rows, and the row numbers, that it has in the embedded engine."""

import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from blender_dp.core.errors import BlenderError, InputError, ParameterError
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, open_log
from blender_dp.engine.spark.keeping import KeptFrames
from blender_dp.engine.spark.readers import SparkLog, open_spark_log
from logs import PLANTED, popular_rows, write_csv, write_parquet

pytestmark = pytest.mark.spark

Row = tuple[int, str | None, str | None, str | None]
Reader = Callable[..., list[Row]]

AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
NASTY = ['"', 'say ""hi""', "★", "NULL", "\\N", " padded ", "a,b;c", "\u2028\x0b", "\ufeffx", "-"]
SESSIONS = """0\tM\t3\t900
0\t0\tQ\t0\tq1\tt1,t2\tu1,d1
0\t5\tC\t0\tu1
0\t6\tC\t9\tu7

1\tM\t3\t901
0\t9\tT\t0\tq2\tt1\tu1,d1
"""


@pytest.fixture(scope="module")
def small_splits(spark: SparkSession) -> Iterator[SparkSession]:
    """Cut files into pieces of a few lines, small files together in one task."""
    settings = {
        "spark.sql.files.maxPartitionBytes": "90",
        "spark.sql.files.openCostInBytes": "0",
        "spark.sql.files.minPartitionNum": "1",
    }
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name, old in before.items():
        assert old is not None
        spark.conf.set(name, old)


def on_spark(spark: SparkSession, paths: list[Path | str], **how: object) -> list[Row]:
    frames = KeptFrames()
    try:
        log: SparkLog = open_spark_log(spark, paths, frames, **how)  # type: ignore[arg-type]
        rows = log.rows.select("row", "user_key", "query", "url").collect()
        return sorted(tuple(row) for row in rows)
    finally:
        frames.drop_all()


def in_duckdb(paths: list[Path | str], **how: object) -> list[Row]:
    with duckdb.connect() as connection:
        sql = open_log(connection, paths, **how).sql  # type: ignore[arg-type]
        query = f'SELECT "row", "user", query, url FROM ({sql}) ORDER BY "row"'  # noqa: S608
        return connection.execute(query).fetchall()


def quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


TEXTS: dict[str, dict[str, bytes]] = {
    "tsv of nasty values": {
        "b.tsv": ("user\tquery\turl\n" + "".join(f"u\t{v}\t{v}\n" for v in NASTY)).encode(),
        "a.tsv": b"\xef\xbb\xbfurl\tuser\tquery\r\n\r\nw1\tu1\tq1\r\nw2\tu2\tq2\n\nw3\t \tq3",
    },
    "csv of quoted values": {
        "a.csv": (
            "user,query,url\n" + "".join(f"u,{quoted(v)},{quoted(v)}\n" for v in NASTY)
        ).encode(),
        "b.csv": b'"the, url",query,user,url\nx,"a, ""b""",u9,w9\ny,,u8,w8\nz,q,u7,w7,\n',
    },
    "csv with a value of two lines": {
        "a.csv": b'user,query,url\nu1,"two\nlines",w\n\nu2,q,w\n',
        "b.csv": b"user,query,url\nu3,q,w\n",
    },
    "csv with a bare quote": {"a.csv": b'user,query,url\nu1,a"b,c"d\nu2,5"" disk,w\n'},
    "packed": {
        "1.csv.gz": gzip.compress(b"query,url,user\nq4,w4,d\n"),
        "2.csv.zst": zstd(b"user,query,url\ne,q5,w5\n"),
        "3.csv": b"user,query,url\nf,q6,w6\n",
    },
    "aol": {
        "user-ct-02.txt": (AOL + "7\tweather\t2006\t1\tw.example\n8\t-\t2006\t\t\n").encode(),
        "user-ct-01.txt.gz": gzip.compress(
            (AOL + "9\tno click\t2006\n7\t  \t2006\t1\tx\n").encode()
        ),
    },
    "yandex": {
        "1.txt": SESSIONS.encode(),
        "2.txt": b"1\t9\tQ\t4\tq3\tt\tu,d\n1\t9\tC\t4\tu9\n5\t1\tC\t0\tu3\n",
    },
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_gives_the_same_rows_in_pieces_of_any_size(
    small_splits: SparkSession, tmp_path: Path, name: str
) -> None:
    for file, content in TEXTS[name].items():
        (tmp_path / file).write_bytes(content)
    log_format = LogFormat.YANDEX if name == "yandex" else LogFormat.AUTO
    expected = in_duckdb([tmp_path], format=log_format)
    assert expected
    assert on_spark(small_splits, [tmp_path], format=log_format) == expected


def test_rows_of_many_pieces_and_files_are_numbered_in_order(
    small_splits: SparkSession, tmp_path: Path
) -> None:
    for part in range(3):
        write_csv(tmp_path / f"{part}.csv", [(f"{part}", f"{i}", "w" * i) for i in range(40)])
    paths: list[Path | str] = [tmp_path / f"{part}.csv" for part in (2, 0, 1)]
    assert on_spark(small_splits, paths) == in_duckdb(paths)


@pytest.mark.parametrize("is_named_by_scheme", [False, True])
def test_parquet_files_may_differ_in_order_and_type(
    small_splits: SparkSession, tmp_path: Path, *, is_named_by_scheme: bool
) -> None:
    # With a scheme a path is Spark's affair, and brackets are a pattern.
    folder = tmp_path / ("day=1 ü 100%" if is_named_by_scheme else "day=1 [ü] 100%")
    folder.mkdir()
    users = ["u"] * 7 if is_named_by_scheme else list(range(7))
    first = {"user": users, "query": ["q", " ", *"abcde"], "url": ["w", None, *"abcde"]}
    pq.write_table(pa.table(first), folder / "b.parquet", row_group_size=2)
    write_parquet(folder / "a.parquet", popular_rows(5))
    path = f"file://{folder}" if is_named_by_scheme else folder
    assert on_spark(small_splits, [path]) == in_duckdb([folder])


def test_text_named_by_a_scheme_is_read_by_spark_alone(
    small_splits: SparkSession, tmp_path: Path
) -> None:
    for part in range(2):
        write_csv(tmp_path / f"{part}.csv", popular_rows(9))
    assert on_spark(small_splits, [f"file://{tmp_path}"]) == in_duckdb([tmp_path])


def test_a_table_is_numbered_once_and_from_nought(spark: SparkSession) -> None:
    rows = popular_rows(20)
    spark.createDataFrame([tuple(row) for row in rows], ["user", "query", "url"]).repartition(
        3
    ).createOrReplaceTempView("searches")
    found = on_spark(spark, ["table:searches"])
    assert [row for row, *_ in found] == list(range(20))
    assert sorted(row[1:] for row in found) == sorted(tuple(row) for row in rows)
    with pytest.raises(InputError, match="table missing: there is no such table"):
        on_spark(spark, ["table:missing"])
    with pytest.raises(ParameterError, match="log must be a single table"):
        on_spark(spark, ["table:searches", "table:searches"])


BAD = {
    "few.tsv": f"user\tquery\turl\nu\t{PLANTED}\tw\nu\t{PLANTED}\n".encode(),
    "latin1.tsv": b"user\tquery\turl\nu\t\xe9" + PLANTED.encode() + b"\tw\n",
    "many.csv": f"user,query,url\nu,{PLANTED},w,more\n".encode(),
    "open.csv": f'user,query,url\nu,{PLANTED},"w\nu,q,w\n'.encode(),
    "after.csv": f'user,query,url\nu,"{PLANTED}"q,w\n'.encode(),
    "long.txt": (AOL + f"7\t{PLANTED}\t2006\t1\tw\tmore\n").encode(),
    "kind.txt": f"0\tM\t3\t900\n0\t1\t{PLANTED}\t0\t1\n".encode(),
    "missing.csv": f"user,term,url\nu,{PLANTED},w\n".encode(),
    "empty.tsv": b"",
    "not.parquet": PLANTED.encode(),
    "cut.tsv.gz": gzip.compress(b"user\tquery\turl\n" + b"u\tq\tw\n" * 999)[:-9],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_the_same_words(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(BAD[name])
    with pytest.raises(InputError) as refusal:
        on_spark(spark, [path])
    with duckdb.connect() as connection, pytest.raises((InputError, duckdb.Error)) as expected:
        connection.execute(open_log(connection, path).sql).fetchall()
    if isinstance(expected.value, InputError):
        assert str(refusal.value) == str(expected.value)
    assert str(refusal.value).startswith(str(path))
    assert PLANTED not in str(refusal.value)


@pytest.mark.parametrize("name", ["few.tsv", "many.csv", "kind.txt", "empty.tsv"])
def test_bad_input_elsewhere_is_refused_by_its_file(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(BAD[name])
    with pytest.raises(BlenderError, match=name) as refusal:
        on_spark(spark, [f"file://{tmp_path}/{name}"])
    assert PLANTED not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.jsonl", b'{"user": "u", "query": "q", "url": "w"}\n'),
        ("log.csv", b"user;query;url\nu;q;w\n"),
        ("log.csv.xz", lzma.compress(b"user,query,url\nu,q,w\n")),
    ],
)
def test_what_spark_does_not_read_is_refused_with_what_it_reads(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as refusal:
        on_spark(spark, [path])
    assert str(refusal.value) == (
        f"{path}: Spark reads CSV with commas, TSV, AOL and Yandex, in UTF-8, plain or with gzip "
        "or zstd, and Parquet; use --engine duckdb"
    )


def test_a_user_who_is_not_a_number_is_missing(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    users = [1.0, float("nan")]
    pq.write_table(pa.table({"user": users, "query": ["nan"] * 2, "url": ["w"] * 2}), path)
    rows = on_spark(spark, [path])
    assert rows == in_duckdb([path]) == [(0, "1.0", "nan", "w"), (1, None, "nan", "w")]


def test_groups_are_checked(spark: SparkSession, tmp_path: Path) -> None:
    columns = LogColumns(group="side")
    for name, sides, rule in (
        ("a", ["opt-in", "never"], "must be opt-in or client in every row"),
        ("b", ["opt-in", "client"], "must have the same value in all rows of a user"),
    ):
        rows = [("u", "q", "w", side) for side in sides]
        path = write_csv(tmp_path / f"{name}.csv", rows, ("user", "query", "url", "side"))
        with pytest.raises(InputError, match=rule):
            on_spark(spark, [path], columns=columns)
    with pytest.raises(ParameterError, match="group must be left out"):
        on_spark(spark, [path], columns=columns, format=LogFormat.AOL)


def test_a_path_that_spark_cannot_reach_is_one_sentence_without_a_password(
    spark: SparkSession,
) -> None:
    """Hadoop throws its own errors for some schemes, which PySpark passes on as they are."""
    with pytest.raises(InputError, match="finds no file there") as refusal:
        on_spark(spark, ["ftp://u:SECRET@127.0.0.1:9/x.csv"])
    assert str(refusal.value).startswith("ftp://127.0.0.1:9/x.csv")
