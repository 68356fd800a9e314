"""A reader's own nouns and title, in tables and files."""

import json
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused

from logs import popular_rows, write_csv

WORDS = ("--query-name=product", "--url-name=state", "--title=Sales by state")


def test_tables_and_files_use_the_readers_nouns(command: Command, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "log.csv", popular_rows())
    outcome = command("run", log, *PROMISE, "--opt-in=0.5", *WORDS, "-o", tmp_path / "out")
    assert outcome.out.split()[:2] == ["product", "probability"]
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["names"] == {"query": "product", "url": "state"}
    assert run["title"] == "Sales by state"
    release = tmp_path / "out" / "release.json"
    page = tmp_path / "trends.html"
    found = command("trends", release, *WORDS, "-o", page)
    assert "  product  " in found.out.splitlines()[0]
    assert '"names":{"query":"product"' in page.read_text()


def test_a_release_keeps_the_nouns_for_its_readers(command: Command, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "log.csv", popular_rows())
    command("run", log, *PROMISE, "--opt-in=0.5", *WORDS, "-o", tmp_path / "out")
    release, page = tmp_path / "out" / "release.json", tmp_path / "trends.html"
    assert json.loads(release.read_text())["names"] == {"query": "product", "url": "state"}
    ranking = command("trends", release, "-o", page)
    assert "  product  " in ranking.out.splitlines()[0]
    assert '"names":{"query":"product","url":"state"}' in page.read_text()
    other = command("trends", release, "--query-name=item")
    assert "  item  " in other.out.splitlines()[0]
    found = command("search", release, "zzzz")
    assert found.out == "no popular product starts like this\n"
    suggested = command("search", release, "", "--fewest-users=1", "--significance=0", "--push=0")
    assert suggested.out.split()[:3] == ["product", "share", "state"]


def test_a_release_without_nouns_has_no_field_for_them(command: Command, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "log.csv", popular_rows())
    command("run", log, *PROMISE, "--opt-in=0.5", "-o", tmp_path / "out")
    release = tmp_path / "out" / "release.json"
    assert "names" not in json.loads(release.read_text())
    assert "  query  " in command("trends", release).out.splitlines()[0]


def test_estimated_counts_stand_beside_shares(command: Command, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "log.csv", popular_rows())
    outcome = command("run", log, *PROMISE, "--opt-in=0.5", "-o", tmp_path / "out")
    head, first, *_ = outcome.out.splitlines()
    assert head.split()[-3:] == ["count", "opt-in", "clients"]
    release = json.loads((tmp_path / "out" / "release.json").read_text())
    users = sum(release["users"].values())
    (row,) = [
        row for row in release["queries"] if row["query"] and first.startswith(row["query"] + "  ")
    ]
    assert first.split()[-3] == f"{row['probability'] * users:,.0f}"
    assert "names" not in json.loads((tmp_path / "out" / "run.json").read_text())


@pytest.mark.parametrize("noun", ["", "x" * 41, "pro\u202educt"])
def test_a_noun_that_cannot_be_shown_is_refused(
    command: Command, tmp_path: Path, noun: str
) -> None:
    log = write_csv(tmp_path / "log.csv", popular_rows())
    arguments = (*PROMISE, "--opt-in=0.5", f"--query-name={noun}", "-o", tmp_path / "out")
    assert_refused(command("run", log, *arguments), "--query-name")
