"""Logs in other formats, from the command line: standard input, and what is said about columns."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from cli.outcomes import PROMISE, Command, assert_refused, names_in

from logs import popular_rows, write_csv

Start = Callable[..., subprocess.Popen[str]]
RUN = (*PROMISE, "--opt-in=0.5", "--seed=1", "-o")
PATIENCE = 120.0


def test_standard_input_is_a_log(script: Start, log: Path, place: Path) -> None:
    before = script("run", log, *RUN, place / "file")
    expected, _ = before.communicate(timeout=PATIENCE)
    for content in ("utf-8", "utf-16"):
        text = place / "text"
        text.write_bytes(log.read_text().encode(content))
        with text.open("rb") as stdin:
            process = script("run", "-", *RUN, place / content, stdin=stdin)
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        assert out.replace(content, "file") == expected
        assert (place / content / "records.csv").read_bytes() == (
            place / "file" / "records.csv"
        ).read_bytes()
    assert names_in(place) == ["file", "text", "utf-16", "utf-8"]


def test_a_flaw_of_standard_input_is_named(script: Start, tmp_path: Path, place: Path) -> None:
    path = write_csv(tmp_path / "log.csv", [("a", "b", "c"), ("a", "b")])
    with path.open("rb") as stdin:
        process = script("run", "-", *RUN, place / "out", stdin=stdin)
        _, err = process.communicate(timeout=PATIENCE)
    rule = "line 3: the row has the wrong number of columns"
    assert (process.returncode, err) == (2, f"blender-dp: standard input, {rule}\n")
    assert names_in(place) == []


def test_columns_in_another_spelling_are_told(
    command: Command, tmp_path: Path, place: Path
) -> None:
    path = write_csv(tmp_path / "log.csv", popular_rows(), ("User ID", "query", "URL"))
    outcome = command("run", path, *RUN, place / "out", "--user=user_id")
    assert outcome.status == 0, outcome
    said = "Columns: user is 'User ID', query is 'query', url is 'URL'; "
    assert f"{said}choose others with --user, --query, --url.\n" in outcome.err


def test_a_delimiter_is_one_character(command: Command, tmp_path: Path, place: Path) -> None:
    path = tmp_path / "log.csv"
    lines = ["user~query~url", *("~".join(row) for row in popular_rows())]
    path.write_text("\n".join(lines))
    assert command("run", path, *RUN, place / "out", "--delimiter=~").status == 0
    refused = command("run", path, *RUN, place / "other", "--delimiter=ab")
    assert_refused(refused, "--delimiter", "one character such as ; or |, or the word tab")
