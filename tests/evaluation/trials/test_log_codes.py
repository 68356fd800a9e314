"""A log read into integers: against dictionaries, in every layout, and what is refused."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp.core.errors import InputError
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.synthetic import Shape, synthesize, write_aol, write_log, write_yandex
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.log_codes import coded
from logs import PLANTED, Row, secret_rows, write_csv, write_parquet, write_tsv

Write = Callable[[Path, list[Row]], Path]
WRITERS: dict[str, Write] = {"csv": write_csv, "tsv": write_tsv, "parquet": write_parquet}


def read(path: Path) -> CodedLog:
    return coded(Log(paths=[path]), Workspace())


def random_rows(seed: int, count: int = 300) -> list[Row]:
    """Return rows of which a third is no record, because query or URL is missing or blank."""
    rng = np.random.default_rng(seed)
    queries, urls = ["q", "Q", "ü", "q r", "", "  "], ["a", "b", "q", ""]
    return [
        (f"user {rng.integers(80)}", queries[rng.integers(6)], urls[rng.integers(4)])
        for _ in range(count)
    ]


def by_dictionary(rows: list[Row]) -> tuple[list[list[tuple[int, int]]], int]:
    """Return each user's records as pairs of numbers by first appearance, and users without."""
    queries: dict[str, int] = {}
    urls: dict[str, int] = {}
    records_of: dict[str, list[tuple[int, int]]] = {}
    for user, query, url in rows:
        own = records_of.setdefault(user, [])
        if query.strip() and url.strip():
            number = queries.setdefault(query, len(queries))
            own.append((number, urls.setdefault(url, len(urls))))
    users = [records for records in records_of.values() if records]
    return users, len(records_of) - len(users)


@pytest.mark.parametrize("layout", WRITERS)
@pytest.mark.parametrize("draw", range(3))
def test_codes_equal_those_of_a_dictionary(tmp_path: Path, layout: str, draw: int) -> None:
    rows = random_rows(draw)
    log = read(WRITERS[layout](tmp_path / f"log.{layout}", rows))
    users, without = by_dictionary(rows)
    assert without > 0
    assert log.users == len(users) + without
    url = np.unique(log.url, return_inverse=True)[1]
    pairs = list(zip(log.query.tolist(), url.tolist(), strict=True))
    bounds = log.first_row.tolist()
    found = [
        [pairs[code] for code in log.row_record[start:stop].tolist()]
        for start, stop in pairwise(bounds)
    ]
    assert found == users + [[]] * without
    for pair, p in zip(pairs, log.probability.tolist(), strict=True):
        shares = [records.count(pair) / len(records) for records in users]
        assert p == pytest.approx(sum(shares) / log.users)


def test_a_log_as_aol_released_it_is_read(tmp_path: Path) -> None:
    """User 7 clicked twice, user 8 once, user 9 never: 9 counts and has no record."""
    path = tmp_path / "aol.txt"
    lines = [
        "AnonID\tQuery\tQueryTime\tItemRank\tClickURL",
        "7\tweather\t2006-03-01 07:17:12\t1\thttp://www.weather.example",
        "7\tnews\t2006-03-01 07:18:12\t1\thttp://www.news.example",
        "8\tweather\t2006-03-02 07:17:12\t1\thttp://www.weather.example",
        "9\tsecret\t2006-03-02 07:17:12\t\t",
    ]
    path.write_text("\n".join(lines) + "\n")
    log = read(path)
    assert log.users == 3
    np.testing.assert_allclose(np.sort(log.probability) * 6, [1, 3])


@pytest.mark.parametrize(("write", "name"), [(write_aol, "aol.txt"), (write_yandex, "log.txt")])
def test_every_layout_of_one_log_is_the_same_truth(
    tmp_path: Path, write: Callable[..., None], name: str
) -> None:
    log = synthesize(Shape.AOL, users=300, seed=1)
    write(log, tmp_path / name)
    write_log(log, tmp_path / "log.parquet")
    one, other = read(tmp_path / name), read(tmp_path / "log.parquet")
    assert one.users == other.users == 300
    assert len(one.row_record) == len(other.row_record)
    np.testing.assert_allclose(np.sort(one.probability), np.sort(other.probability))


def test_reading_twice_gives_the_same_codes(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", random_rows(1))
    one, other = read(path), read(path)
    assert (one.row_record == other.row_record).all()
    assert (one.url == other.url).all()


def test_rows_keep_their_order_when_the_database_works_in_parallel(tmp_path: Path) -> None:
    """Every URL occurs once, so its code is its row: the rows of one user must come in order."""
    row = np.arange(500_000)
    columns = {"user": np.zeros_like(row), "query": row % 1000, "url": row}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=50_000)
    log = read(tmp_path / "log.parquet")
    assert (np.diff(log.url[log.row_record]) > 0).all()


def test_a_log_without_any_record_has_only_users(tmp_path: Path) -> None:
    log = read(write_csv(tmp_path / "log.csv", [("a", "", ""), ("b", " ", "x"), ("a", "", "")]))
    assert (log.users, len(log.row_record), log.no_record) == (2, 0, 0)


@pytest.mark.parametrize(
    ("rows", "rule"),
    [([], "empty"), ([*secret_rows(3), ("", PLANTED, PLANTED)], "every row must name its user")],
)
def test_what_a_run_refuses_is_refused_in_the_same_words(
    tmp_path: Path, rows: list[Row], rule: str
) -> None:
    with pytest.raises(InputError, match=rule) as refusal:
        read(write_csv(tmp_path / "log.csv", rows))
    assert PLANTED not in str(refusal.value)
