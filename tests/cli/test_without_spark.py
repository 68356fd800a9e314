"""Where Spark cannot run, every command that has an engine says what to install."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Outcome, assert_refused, names_in

JAVA = ("Java 17 or newer", "apt-get install default-jre-headless", "JAVA_HOME")
COMMANDS = ("run", "head-list", "privatize", "estimate")


@pytest.fixture
def words(log: Path, head_list: Path, reports: Path, place: Path) -> dict[str, list[str | Path]]:
    """Return what to say for each command, in full."""
    return {
        "run": [log, *PROMISE, "--opt-in=0.5", "-o", place / "out"],
        "head-list": [log, *PROMISE, "-o", place / "out"],
        "privatize": [head_list, log, "-o", place / "reports.jsonl"],
        "estimate": [head_list, reports, "-o", place / "estimates.json"],
    }


def outcome_of(name: str, words: list[str | Path], **environment: str) -> Outcome:
    """Run a command on Spark in a process of its own, with nothing on the path but this."""
    inherited = {k: v for k, v in os.environ.items() if k not in {"JAVA_HOME", "PATH"}}
    ended = subprocess.run(
        [sys.executable, "-m", "blender_dp.cli", name, *map(str, words), "--engine=spark"],
        env={**inherited, "PATH": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return Outcome(status=ended.returncode, out=ended.stdout, err=ended.stderr)


@pytest.mark.parametrize("name", COMMANDS)
def test_without_java_one_sentence_says_what_to_install(
    words: dict[str, list[str | Path]], place: Path, name: str
) -> None:
    assert_refused(outcome_of(name, words[name]), *JAVA)
    assert names_in(place) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_without_pyspark_one_sentence_says_what_to_install(
    words: dict[str, list[str | Path]], place: Path, tmp_path: Path, name: str
) -> None:
    blocking = 'import sys\nsys.modules["pyspark"] = None\n'
    (tmp_path / "sitecustomize.py").write_text(blocking, encoding="utf-8")
    outcome = outcome_of(name, words[name], PYTHONPATH=str(tmp_path))
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
    outcome = outcome_of("estimate", words["estimate"], PATH=path)
    # Spark's own start script may have complained before.
    last = Outcome(status=outcome.status, out=outcome.out, err=_last_line(outcome.err))
    assert_refused(last, "Spark does not start", *JAVA)
    assert names_in(place) == []


def _last_line(text: str) -> str:
    return text.splitlines(keepends=True)[-1]
