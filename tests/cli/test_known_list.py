"""``--known``: a list is used for what it names, or refused before anything is read."""

import json
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused, names_in

from logs import PLANTED, popular_rows, write_csv

COMMANDS = [("run", ["--opt-in=0.5"]), ("head-list", [])]


@pytest.mark.parametrize(("name", "sides"), COMMANDS)
def test_the_algorithm_as_printed_takes_no_known_list(
    command: Command, log: Path, place: Path, tmp_path: Path, name: str, sides: list[str]
) -> None:
    known = tmp_path / "known.csv"
    known.write_text(f"query,url\n{PLANTED},u\n", encoding="utf-8")
    options = (*PROMISE, *sides, "--preset=paper", f"--known={known}")
    outcome = command(name, log, *options, "-o", place / "out")
    assert_refused(outcome, "--known: known must be left out with the preset paper")
    assert names_in(place) == []


@pytest.mark.parametrize("content", ["word\na\n", f"query,url\n{PLANTED}\n"])
def test_a_bad_known_list_is_refused(
    command: Command, log: Path, place: Path, tmp_path: Path, content: str
) -> None:
    known = tmp_path / "known.csv"
    known.write_text(content, encoding="utf-8")
    for name, sides in COMMANDS:
        outcome = command(name, log, *PROMISE, *sides, f"--known={known}", "-o", place / "out")
        assert_refused(outcome, "known.csv")
    assert names_in(place) == []


@pytest.fixture
def of_queries(command: Command, log: Path, tmp_path: Path) -> Path:
    """Return the release of a list of queries."""
    return released(command, log, tmp_path / "earlier", "--list=queries") / "release.json"


def released(command: Command, log: Path, place: Path, *options: str) -> Path:
    """Run on a log and return where the results are."""
    outcome = command(
        "run", log, *PROMISE, "--opt-in=0.5", "--seed=1", *options, "--json", "-o", place
    )
    assert outcome.status == 0, outcome
    return place


def known_records(place: Path) -> int:
    """Return the number of records that a run says to have known."""
    return int(json.loads((place / "run.json").read_text("utf-8")).get("known_records", 0))


def test_queries_are_known_where_queries_are_listed(
    command: Command, log: Path, place: Path, of_queries: Path
) -> None:
    """Those of a list of queries, those of a list of records, and those of a table alone."""
    of_records = released(command, log, place / "records") / "release.json"
    table = write_csv(place / "known.csv", [(f"query {i}",) for i in range(5)], ["query"])
    for number, known in enumerate([of_queries, of_records, table]):
        out = place / f"run {number}"
        assert known_records(released(command, log, out, "--list=queries", f"--known={known}")) == 5
        out = place / f"curated {number}"
        options = ("--list=queries", f"--known={known}", "--seed=1", "-o", out)
        assert command("head-list", log, *PROMISE, *options).status == 0
        tally = json.loads((out / "opt_in_estimates.json").read_text("utf-8"))["tally"]
        assert all(tally["known"])


@pytest.mark.parametrize(("name", "sides"), COMMANDS)
def test_queries_are_refused_where_records_are_listed(
    command: Command, log: Path, place: Path, of_queries: Path, name: str, sides: list[str]
) -> None:
    table = write_csv(of_queries.with_name("words.csv"), [(PLANTED,)], ["query"])
    for known in (of_queries, table):
        outcome = command(name, log, *PROMISE, *sides, f"--known={known}", "-o", place / "out")
        assert_refused(outcome, "--known: known must be records with URLs, not queries", known)
    assert names_in(place) == []


def test_queries_are_not_used_if_auto_lists_records(
    command: Command, log: Path, place: Path, of_queries: Path
) -> None:
    """One URL per query: a list of queries would be no longer."""
    options = (*PROMISE, "--list=auto", f"--known={of_queries}", "--seed=1")
    for name, sides in COMMANDS:
        outcome = command(name, log, *options, *sides, "-o", place / name)
        assert outcome.status == 0
        assert f"Records are listed, so the queries that {of_queries} names are not used" in (
            outcome.err
        )
    assert known_records(place / "run") == 0
    tally = json.loads((place / "head-list" / "opt_in_estimates.json").read_text("utf-8"))["tally"]
    assert "known" not in tally


def test_queries_are_the_records_of_a_log_without_urls(
    command: Command, log: Path, place: Path, of_queries: Path
) -> None:
    """So are those of a release with URLs."""
    rows = [(user, query) for user, query, _ in popular_rows()]
    words = write_csv(place / "words.csv", rows, ["user", "query"])
    of_records = released(command, log, place / "records") / "release.json"
    for number, known in enumerate([of_queries, of_records]):
        out = place / f"run {number}"
        run = released(command, words, out, "--no-url", f"--known={known}")
        assert known_records(run) == 5
