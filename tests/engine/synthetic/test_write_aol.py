"""The layout in which AOL released its log, read by a plain reader written here."""

import re
from collections import Counter
from pathlib import Path

import pytest

from blender_dp.engine.synthetic import Shape, SyntheticLog, synthesize, write_aol


@pytest.fixture(scope="module")
def log() -> SyntheticLog:
    return synthesize(Shape.AOL, 2_000, 3)


@pytest.fixture(scope="module")
def lines(log: SyntheticLog, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path: Path = tmp_path_factory.mktemp("aol") / "user-ct-test-collection-01.txt"
    write_aol(log, path)
    return path.read_text(encoding="ascii").split("\n")


@pytest.fixture(scope="module")
def rows(lines: list[str]) -> list[list[str]]:
    return [line.split("\t") for line in lines[1:-1]]


def test_the_header_is_that_of_aol(lines: list[str]) -> None:
    assert lines[0] == "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
    assert lines[-1] == ""


def test_every_row_has_five_cells(rows: list[list[str]]) -> None:
    assert {len(row) for row in rows} == {5}


def test_clicks_on_queries_that_were_not_blanked_are_the_records(
    log: SyntheticLog, rows: list[list[str]]
) -> None:
    found = Counter((user, query, url) for user, query, _, _, url in rows if url and query != "-")
    queries = log.query_names(log.query).to_pylist()
    urls = log.url_names(log.query, log.url).to_pylist()
    assert found == Counter(zip(map(str, log.user.tolist()), queries, urls, strict=True))


def test_rank_and_url_are_blank_together(rows: list[list[str]]) -> None:
    assert {bool(rank) == bool(url) for _, _, _, rank, url in rows} == {True}


def test_a_rank_is_the_place_of_the_url(log: SyntheticLog, rows: list[list[str]]) -> None:
    for rank in range(1, 10):
        expected = log.url_name(0, rank - 1)
        assert {url for _, query, _, at, url in rows if query == "google" and at == str(rank)} <= {
            expected
        }


def test_readers_meet_every_kind_of_row(log: SyntheticLog, rows: list[list[str]]) -> None:
    kinds = Counter((query == "-", url != "") for _, query, _, _, url in rows)
    assert kinds[False, True] == len(log)
    assert kinds[False, False] > len(log) / 5
    assert kinds[True, True] > 10
    assert kinds[True, False] > 10
    assert kinds[True, True] + kinds[True, False] < len(log) / 50


def test_rows_without_a_record_add_no_user(log: SyntheticLog, rows: list[list[str]]) -> None:
    assert {user for user, *_ in rows} == {str(user) for user in range(log.users)}


def test_times_are_of_the_three_months(rows: list[list[str]]) -> None:
    times = [time for _, _, time, _, _ in rows]
    pattern = re.compile(r"2006-0[345]-\d\d \d\d:\d\d:\d\d")
    assert all(pattern.fullmatch(time) for time in times)
    assert len({time[:10] for time in times}) == 92
    hours = Counter(time[11:13] for time in times)
    assert hours["19"] > 3 * hours["03"]
