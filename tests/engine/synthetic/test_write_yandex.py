"""The layout of the Kaggle challenge, read by a plain reader written here."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from blender_dp.engine.synthetic import (
    Shape,
    ShapeOptions,
    SyntheticLog,
    synthesize,
    write_yandex,
)

Sessions = dict[str, list[list[str]]]


@pytest.fixture(scope="module", params=[Shape.YANDEX, Shape.ZIPF])
def log(request: pytest.FixtureRequest) -> SyntheticLog:
    options = ShapeOptions(queries=5_000, mean_records=6)
    return synthesize(request.param, 2_000, 3, options=options)


@pytest.fixture(scope="module")
def rows(log: SyntheticLog, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    path: Path = tmp_path_factory.mktemp("yandex") / "train.txt"
    write_yandex(log, path)
    lines = path.read_text(encoding="ascii").split("\n")
    assert lines[-1] == ""
    return [line.split("\t") for line in lines[:-1]]


@pytest.fixture(scope="module")
def sessions(rows: list[list[str]]) -> Sessions:
    by_session: Sessions = defaultdict(list)
    for session, *cells in rows:
        by_session[session].append(cells)
    return by_session


def test_clicks_are_the_records(log: SyntheticLog, sessions: Sessions) -> None:
    found: Counter[tuple[str, str, str]] = Counter()
    for (_, _, user), *actions in sessions.values():
        query_of = {cells[2]: cells[3] for cells in actions if cells[1] == "Q"}
        for cells in actions:
            if cells[1] == "C":
                found[user, query_of[cells[2]], cells[3]] += 1
    numbered = SyntheticLog(
        shape=Shape.YANDEX,
        seed=log.seed,
        users=log.users,
        user=log.user,
        query=log.query,
        url=log.url,
    )
    names = zip(
        numbered.user_names(log.user).to_pylist(),
        numbered.query_names(log.query).to_pylist(),
        numbered.url_names(log.query, log.url).to_pylist(),
        strict=True,
    )
    assert found == Counter(names)


def test_a_session_is_one_run_of_lines_that_starts_with_its_user(rows: list[list[str]]) -> None:
    opened = [cells[0] for cells in rows if cells[1] == "M"]
    assert len(set(opened)) == len(opened)
    current = ""
    for cells in rows:
        if cells[1] == "M":
            current = cells[0]
            assert len(cells) == 4
            assert 1 <= int(cells[2]) <= 27
        assert cells[0] == current


def test_a_query_line_has_terms_and_ten_results(rows: list[list[str]]) -> None:
    for cells in rows:
        if cells[2] == "Q":
            assert len(cells) == 6 + 10
            assert all(term.isdigit() for term in cells[5].split(","))
            pairs = [cell.split(",") for cell in cells[6:]]
            assert all(len(pair) == 2 and "".join(pair).isdigit() for pair in pairs)
            assert len({url for url, _ in pairs}) == 10


def test_a_click_is_on_a_result_shown_before(sessions: Sessions) -> None:
    for (_, _, _), *actions in sessions.values():
        shown: dict[str, tuple[int, set[str]]] = {}
        for cells in actions:
            if cells[1] == "Q":
                assert cells[2] not in shown
                shown[cells[2]] = int(cells[0]), {cell.split(",")[0] for cell in cells[5:]}
            else:
                assert len(cells) == 4
                shown_at, urls = shown[cells[2]]
                assert int(cells[0]) > shown_at
                assert cells[3] in urls


def test_time_passes_within_a_session(sessions: Sessions) -> None:
    for (_, _, _), *actions in sessions.values():
        times = [int(cells[0]) for cells in actions]
        assert times == sorted(times)


def test_the_same_query_shows_the_same_page(rows: list[list[str]]) -> None:
    pages: dict[str, set[str]] = defaultdict(set)
    for cells in rows:
        if cells[2] == "Q":
            pages[cells[4]].add("\t".join(cells[5:]))
    assert {len(page) for page in pages.values()} == {1}


def test_some_pages_are_not_clicked(log: SyntheticLog, rows: list[list[str]]) -> None:
    kinds = Counter(cells[1] if cells[1] == "M" else cells[2] for cells in rows)
    assert kinds["C"] == len(log)
    assert kinds["Q"] - kinds["C"] > len(log) / 6
    assert kinds["M"] > log.users


def test_users_are_interleaved(rows: list[list[str]]) -> None:
    users = [int(cells[3]) for cells in rows if cells[1] == "M"]
    assert users != sorted(users)
