"""``blender-dp search``: with a text, at every key, and for every line."""

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli.outcomes import Command, assert_refused
from pages.report_inputs import make_release

from blender_dp.core.head_list.visible_names import visible
from logs import PLANTED, popular_rows, write_csv


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return written(tmp_path, make_release())


def written(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "release.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def give_lines(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_suggestions_are_a_table(command: Command, release: Path) -> None:
    outcome = command("search", release, "YaHo")
    assert (outcome.status, outcome.err) == (0, "")
    heading, first = outcome.out.splitlines()[:2]
    assert heading.split() == ["query", "share", "page"]
    assert first.startswith("yahoo ")
    assert "http://www.yahoo.com/" in first


def test_json_is_one_object(command: Command, release: Path) -> None:
    answer = json.loads(command("search", release, "ya", "--json", "--limit=1").out)
    (suggestion,) = answer.pop("suggestions")
    assert answer == {"typed": "ya"}
    assert suggestion["query"] == "yahoo"
    assert suggestion["is_correction"] is False
    assert suggestion["links"][0]["address"] == "http://www.yahoo.com/"


def test_a_slip_is_said_to_be_one(command: Command, release: Path) -> None:
    assert "(perhaps) yahoo" in command("search", release, "yhaoo").out


@pytest.mark.parametrize("preset", ["paper", "sharp"])
def test_a_run_that_listed_nothing_has_nothing_to_suggest(
    command: Command, tmp_path: Path, preset: str
) -> None:
    """Each of 20 opt-in users passes with probability δ = 10⁻¹² at most."""
    log, out = write_csv(tmp_path / "log.csv", popular_rows(40, queries=40)), tmp_path / "out"
    options = ("--opt-in=0.5", "--epsilon=4", "--delta=1e-12", f"--preset={preset}")
    assert command("run", log, *options, "-o", out).status == 0
    release = out / "release.json"
    outcome = command("search", release, "query")
    assert (outcome.status, outcome.out) == (0, "no popular query starts like this\n")
    assert json.loads(command("search", release, "query", "--json").out)["suggestions"] == []
    assert command("trends", release).out == "no query is listed\n"


def test_nothing_that_fits_is_no_failure(command: Command, release: Path) -> None:
    outcome = command("search", release, "qqqq")
    assert (outcome.status, outcome.out) == (0, "no popular query starts like this\n")


def test_a_stricter_rule_shows_less(command: Command, release: Path) -> None:
    def shown(*options: str) -> int:
        return len(
            json.loads(command("search", release, "", "--json", "--limit=99", *options).out)[
                "suggestions"
            ]
        )

    assert shown("--significance=1") > shown() > shown("--significance=20")
    assert shown() > shown("--fewest-users=5000")


def test_coverage_is_told_with_its_interval(command: Command, release: Path) -> None:
    outcome = command("search", release, "--coverage")
    assert "the query is suggested" in outcome.out
    share = json.loads(command("search", release, "--coverage", "--json").out)["coverage"]
    assert 0 < share["answered"]["low"] < share["answered"]["share"] < share["suggested"]["share"]


def test_every_line_of_standard_input_is_answered(
    command: Command, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_lines(monkeypatch, "goo\r\n天気\n\xff\n".encode("latin-1", "replace") + b"\xff\n")
    answers = [json.loads(line) for line in command("search", release, "--json").out.splitlines()]
    assert [answer["typed"] for answer in answers] == ["goo", "??", "\ufffd", "\ufffd"]
    assert answers[0]["suggestions"][0]["query"] == "google"
    give_lines(monkeypatch, b"goo\nqqqq\n")
    outcome = command("search", release)
    assert "google" in outcome.out
    assert outcome.out.endswith("no popular query starts like this\n")


def test_no_lines_are_no_answer(
    command: Command, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_lines(monkeypatch, b"")
    assert command("search", release).out == ""


@pytest.mark.parametrize("query", ["\x1b]0;mine\x07", "[red]q[/red]"])
def test_a_query_cannot_write_to_the_terminal(command: Command, tmp_path: Path, query: str) -> None:
    document = make_release()
    for row in [*document["records"], *document["queries"]]:
        row["query"] = query if row["query"] == "google" else row["query"]
    path = written(tmp_path, document)
    outcome = command("search", path, "")
    assert visible(query) in outcome.out
    assert "\x1b" not in outcome.out


def test_bytes_that_are_no_text_are_no_crash(command: Command, release: Path) -> None:
    assert json.loads(command("search", release, "\udcff", "--json").out)["suggestions"] == []


def test_a_seed_and_an_empty_answer_are_remarked_on(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path, make_release() | {"private": False})
    outcome = command("search", path, "goo", "--significance=1000")
    assert outcome.status == 0
    assert "not private" in outcome.err
    assert "there is nothing to suggest" in outcome.err


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("--significance=-1", "significance must be a number of standard errors"),
        ("--fewest-users=-1", "fewest_users must be 0 or more"),
        ("--limit=0", "limit must be at least 1"),
    ],
)
def test_a_wrong_option_is_refused(
    command: Command, release: Path, option: str, named: str
) -> None:
    assert_refused(command("search", release, "goo", option), named)


def test_a_release_that_is_none_is_refused(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path, make_release() | {"queries": PLANTED})
    assert_refused(command("search", path, "goo"), path, "field queries")
    assert_refused(command("search", tmp_path / "none.json", "goo"), "no such file")


def test_a_terminal_is_answered_at_every_key(
    release: Path, core_environment: dict[str, str]
) -> None:
    ours, theirs = pty.openpty()
    program = [sys.executable, "-m", "blender_dp.cli", "search", str(release)]
    environment = {**core_environment, "TERM": "xterm"}
    child = subprocess.Popen(program, stdin=theirs, stdout=theirs, env=environment)
    os.close(theirs)
    try:
        until(ours, "search: ")
        for keys, expected in (
            (b"x\x15ya", "yahoo"),
            (b"\x7f\x1b[A", "search: y▏"),
            (b"x", "no popular query"),
        ):
            os.write(ours, keys)
            until(ours, expected)
        os.write(ours, b"\r")
        assert child.wait(timeout=20) == 0
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def until(terminal: int, expected: str) -> None:
    """Read a terminal until a text stands on it; fail after a while."""
    screen, deadline = "", time.monotonic() + 30
    while expected not in screen:
        assert time.monotonic() < deadline, screen
        if select.select([terminal], [], [], 0.2)[0]:
            screen += os.read(terminal, 65536).decode("utf-8", "ignore")
