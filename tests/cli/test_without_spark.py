"""Where Spark cannot run, every command that has an engine says what to install."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Outcome, assert_refused, names_in

JAVA = ("Java 17 or newer", "apt-get install default-jre-headless", "JAVA_HOME")
COMMANDS = ("run", "head-list", "privatize", "estimate")
STATUS, END = "status ", "\0"
PROGRAM = f"""
import json, sys
from blender_dp.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ending:
        print({STATUS!r}, ending.code or 0, sep="", end={END!r}, flush=True)
        print(end={END!r}, file=sys.stderr, flush=True)
"""
"""Several commands in one process, since a start takes longer than a refusal."""


@pytest.fixture
def words(log: Path, head_list: Path, reports: Path, place: Path) -> dict[str, list[str | Path]]:
    """Return what to say for each command, in full."""
    return {
        "run": [log, *PROMISE, "--opt-in=0.5", "-o", place / "out"],
        "head-list": [log, *PROMISE, "-o", place / "out"],
        "privatize": [head_list, log, "-o", place / "reports.jsonl"],
        "estimate": [head_list, reports, "-o", place / "estimates.json"],
    }


def outcomes_of(words: list[list[str | Path]], **environment: str) -> list[Outcome]:
    """Run commands on Spark in one new process, with nothing on the path but this."""
    inherited = {k: v for k, v in os.environ.items() if k not in {"JAVA_HOME", "PATH"}}
    commands = json.dumps([[*map(str, one), "--engine=spark"] for one in words])
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, commands],
        env={**inherited, "PATH": "", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    said = [text.split(END)[:-1] for text in (ended.stdout, ended.stderr)]
    assert [len(texts) for texts in said] == [len(words)] * 2
    return [
        Outcome(status=int(status), out=out, err=err)
        for (out, _, status), err in zip(
            (text.rpartition(STATUS) for text in said[0]), said[1], strict=True
        )
    ]


def test_without_java_one_sentence_says_what_to_install(
    words: dict[str, list[str | Path]], place: Path
) -> None:
    for outcome in outcomes_of([[name, *words[name]] for name in COMMANDS]):
        assert_refused(outcome, *JAVA)
    assert names_in(place) == []


def test_without_pyspark_one_sentence_says_what_to_install(
    words: dict[str, list[str | Path]], place: Path, tmp_path: Path
) -> None:
    blocking = 'import sys\nsys.modules["pyspark"] = None\n'
    (tmp_path / "sitecustomize.py").write_text(blocking, encoding="utf-8")
    commands = [[name, *words[name]] for name in COMMANDS]
    for outcome in outcomes_of(commands, PYTHONPATH=str(tmp_path)):
        assert_refused(outcome, "--engine spark", "pip install 'blender-dp[spark]'")
    assert names_in(place) == []


def test_a_java_that_does_not_start_is_told_to_be_too_old_perhaps(
    words: dict[str, list[str | Path]], place: Path, tmp_path: Path
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    java.chmod(0o755)
    path = f"{java.parent}{os.pathsep}{os.environ['PATH']}"
    (outcome,) = outcomes_of([["estimate", *words["estimate"]]], PATH=path)
    # Spark's own start script may have complained before.
    last = Outcome(status=outcome.status, out=outcome.out, err=_last_line(outcome.err))
    assert_refused(last, "Spark does not start", *JAVA)
    assert names_in(place) == []


def _last_line(text: str) -> str:
    return text.splitlines(keepends=True)[-1]
