"""Logs on disk: every format holds the same records, whole or not at all."""

import gzip
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from blender_dp.core.errors import ParameterError
from blender_dp.engine.synthetic import (
    Shape,
    ShapeOptions,
    SyntheticLog,
    synthesize,
    write_aol,
    write_log,
    write_yandex,
)

Record = tuple[str, str, str]
Writer = Callable[..., None]
WRITERS: list[tuple[Writer, str]] = [
    (write_log, "log.parquet"),
    (write_log, "log.tsv"),
    (write_log, "log.tsv.gz"),
    (write_log, "log.csv"),
    (write_log, "log.csv.gz"),
    (write_aol, "aol.txt"),
    (write_aol, "aol.txt.gz"),
    (write_yandex, "train.tsv"),
]


def draw(shape: Shape, seed: int) -> SyntheticLog:
    options = ShapeOptions(queries=2000, mean_records=8)
    return synthesize(shape, 300, seed, options=options)


@cache
def small_log(shape: Shape = Shape.ZIPF) -> SyntheticLog:
    return draw(shape, seed=5)


def records(log: SyntheticLog) -> Counter[Record]:
    queries = log.query_names(log.query).to_pylist()
    urls = log.url_names(log.query, log.url).to_pylist()
    return Counter(zip(map(str, log.user.tolist()), queries, urls, strict=True))


@pytest.mark.parametrize("shape", [Shape.ZIPF, Shape.YANDEX])
@pytest.mark.parametrize("name", ["log.tsv", "log.csv", "log.tsv.gz", "log.csv.gz"])
def test_delimited_files_read_back(tmp_path: Path, name: str, shape: Shape) -> None:
    log = small_log(shape)
    write_log(log, tmp_path / name)
    with duckdb.connect() as connection:
        read = connection.read_csv(str(tmp_path / name), header=True, all_varchar=True)
        assert read.columns == ["user", "query", "url"]
        assert Counter(read.fetchall()) == records(log)


@pytest.mark.parametrize("shape", [Shape.ZIPF, Shape.YANDEX])
def test_parquet_files_read_back(tmp_path: Path, shape: Shape) -> None:
    log = small_log(shape)
    write_log(log, tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("user", "string"),
        ("query", "string"),
        ("url", "string"),
    ]
    assert Counter(zip(*table.to_pydict().values(), strict=True)) == records(log)
    with duckdb.connect() as connection:
        assert connection.read_parquet(str(tmp_path / "log.parquet")).fetchall() == list(
            zip(*table.to_pydict().values(), strict=True)
        )


def test_a_parquet_file_says_that_it_is_synthetic(tmp_path: Path) -> None:
    write_log(small_log(), tmp_path / "log.parquet")
    metadata = pq.read_schema(tmp_path / "log.parquet").metadata
    assert metadata[b"synthetic"] == b"shape zipf, 300 users, seed 5"


def test_delimited_files_have_a_plain_header(tmp_path: Path) -> None:
    write_log(small_log(), tmp_path / "log.csv")
    assert (tmp_path / "log.csv").read_text().splitlines()[0] == "user,query,url"


def test_users_are_interleaved(tmp_path: Path) -> None:
    write_log(small_log(), tmp_path / "log.tsv")
    users = [line.split("\t")[0] for line in (tmp_path / "log.tsv").read_text().splitlines()[1:]]
    neighbours = sum(left == right for left, right in pairwise(users))
    # In the order of drawing, all but 299 of the rows have the same user as the row before.
    assert neighbours < len(users) / 10


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_the_same_log_makes_the_same_bytes(tmp_path: Path, write: Writer, name: str) -> None:
    write(small_log(), tmp_path / name)
    write(draw(Shape.ZIPF, seed=5), tmp_path / f"again-{name}")
    written = (tmp_path / name).read_bytes()
    assert written == (tmp_path / f"again-{name}").read_bytes()
    write(draw(Shape.ZIPF, seed=6), tmp_path / name)
    assert written != (tmp_path / name).read_bytes()


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_progress_ends_at_one(tmp_path: Path, write: Writer, name: str) -> None:
    seen: list[float] = []
    write(small_log(), tmp_path / name, progress=seen.append)
    assert seen[-1] == 1


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_a_failure_leaves_what_was_there(tmp_path: Path, write: Writer, name: str) -> None:
    (tmp_path / name).write_text("from before")

    def interrupt(_share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(small_log(), tmp_path / name, progress=interrupt)
    assert (tmp_path / name).read_text() == "from before"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_a_missing_folder_is_named(tmp_path: Path, write: Writer, name: str) -> None:
    with pytest.raises(ParameterError, match=r"^output must be in a folder that exists; got"):
        write(small_log(), tmp_path / "missing" / name)


@pytest.mark.parametrize("name", ["log", "log.xlsx", "log.gz", "log.parquet.gz", "tsv"])
def test_an_unknown_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match=r"^output must be a name ending in \.parquet, \.tsv"):
        write_log(small_log(), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [write_aol, write_yandex])
@pytest.mark.parametrize("name", ["log.parquet", "log.csv", "log.csv.gz", "log"])
def test_a_layout_is_text(tmp_path: Path, write: Writer, name: str) -> None:
    with pytest.raises(ParameterError, match=r"^output must be a name ending in \.txt or \.tsv"):
        write(small_log(), tmp_path / name)


def test_an_ending_in_capitals_means_the_same(tmp_path: Path) -> None:
    write_log(small_log(), tmp_path / "LOG.TSV.GZ")
    assert gzip.decompress((tmp_path / "LOG.TSV.GZ").read_bytes()).startswith(b"user\tquery\turl\n")


def test_several_chunks_hold_every_record_once(tmp_path: Path) -> None:
    options = ShapeOptions(queries=500)
    log = synthesize(Shape.ZIPF, 1_100_000, 1, options=options)
    write_log(log, tmp_path / "log.parquet")
    users = pq.read_table(tmp_path / "log.parquet", columns=["user"])["user"]
    assert np.array_equal(np.sort(users.to_numpy().astype(np.int64)), np.arange(1_100_000))
