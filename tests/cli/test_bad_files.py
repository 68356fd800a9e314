"""Published files that were edited, mixed up or never ours."""

import json
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused, names_in

from logs import PLANTED, popular_rows, write_csv


@pytest.fixture
def clients(command: Command, head_list: Path, reports: Path, tmp_path: Path) -> Path:
    path = tmp_path / "clients.json"
    assert command("estimate", head_list, reports, "-o", path).status == 0
    return path


@pytest.fixture
def other_list(command: Command, tmp_path: Path) -> Path:
    log = write_csv(tmp_path / "other.csv", popular_rows(queries=3))
    assert command("head-list", log, *PROMISE, "-o", tmp_path / "other").status == 0
    return tmp_path / "other" / "head_list.json"


def edited(path: Path, folder: Path) -> Path:
    """Put a query of one's own into a copy of a published file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    document["queries"][0]["query"] = PLANTED
    copy = folder / path.name
    copy.write_text(json.dumps(document), encoding="utf-8")
    return copy


def test_an_edited_head_list_is_refused_by_every_command(
    command: Command, head_list: Path, log: Path, reports: Path, tmp_path: Path, place: Path
) -> None:
    bad = edited(head_list, tmp_path)
    opt_in = head_list.with_name("opt_in_estimates.json")
    for arguments in (
        ["privatize", bad, "--record", PLANTED, PLANTED],
        ["privatize", bad, log, "-o", place / "reports.parquet"],
        ["estimate", bad, reports, "-o", place / "clients.json"],
        ["blend", bad, opt_in, opt_in, "-o", place / "out"],
    ):
        assert_refused(command(*arguments), bad, "field digest", "changed after it was written")
    assert names_in(place) == []


def test_reports_made_for_another_list_are_refused(
    command: Command, other_list: Path, reports: Path, place: Path
) -> None:
    outcome = command("estimate", other_list, reports, "-o", place / "clients.json")
    assert_refused(outcome, reports, "reports made for another head list")
    assert names_in(place) == []


def test_one_bad_file_among_good_ones_refuses_them_all(
    command: Command, head_list: Path, reports: Path, tmp_path: Path, place: Path
) -> None:
    bad = tmp_path / "more.jsonl"
    bad.write_text(json.dumps({"cell": PLANTED}) + "\n")
    outcome = command("estimate", head_list, reports, bad, "-o", place / "clients.json")
    assert_refused(outcome, bad, "field version")
    assert names_in(place) == []


@pytest.mark.parametrize("content", ["", f'{{"cell": "{PLANTED}', f"{PLANTED}\n", "[]\n"])
def test_a_file_that_holds_no_reports_is_refused(
    command: Command, head_list: Path, tmp_path: Path, place: Path, content: str
) -> None:
    path = tmp_path / "reports.jsonl"
    path.write_text(content)
    assert_refused(command("estimate", head_list, path, "-o", place / "clients.json"), path)
    assert names_in(place) == []


def test_one_report_is_too_few(
    command: Command, head_list: Path, place: Path, tmp_path: Path
) -> None:
    path = tmp_path / "reports.jsonl"
    path.write_text(command("privatize", head_list, "--record", "query 1", "1.example").out)
    outcome = command("estimate", head_list, path, "-o", place / "clients.json")
    assert_refused(outcome, "two reports or more are needed")
    assert names_in(place) == []


def test_estimates_of_another_list_are_refused(
    command: Command, head_list: Path, other_list: Path, clients: Path, place: Path
) -> None:
    opt_in = head_list.with_name("opt_in_estimates.json")
    other_opt_in = other_list.with_name("opt_in_estimates.json")
    for arguments, named in (
        ([head_list, other_opt_in, clients], other_opt_in),
        ([other_list, other_opt_in, clients], clients),
        ([other_list, opt_in, clients], opt_in),
    ):
        outcome = command("blend", *arguments, "-o", place / "out")
        assert_refused(outcome, named, "belongs to another head list")
    assert names_in(place) == []


def test_files_in_the_wrong_order_are_refused(
    command: Command, head_list: Path, clients: Path, place: Path
) -> None:
    opt_in = head_list.with_name("opt_in_estimates.json")
    for arguments in ([head_list, clients, opt_in], [opt_in, head_list, clients]):
        outcome = command("blend", *arguments, "-o", place / "out")
        assert_refused(outcome, arguments[1 if arguments[0] == head_list else 0], "field format")
    assert names_in(place) == []


def test_a_missing_file_is_named(command: Command, head_list: Path, place: Path) -> None:
    none = place / "none.json"
    assert_refused(command("privatize", none, "--record", "q", "u"), none, "no such file")
    assert_refused(command("estimate", head_list, none, "-o", place / "c.json"), none)
    assert_refused(
        command("blend", head_list, none, none, "-o", place / "out"), none, "no such file"
    )
    assert names_in(place) == []


def test_seeded_and_private_parts_are_not_mixed(
    command: Command, head_list: Path, log: Path, place: Path, tmp_path: Path
) -> None:
    assert command("head-list", log, *PROMISE, "--seed=1", "-o", tmp_path / "seeded").status == 0
    seeded = tmp_path / "seeded" / "head_list.json"
    record = ["--record", PLANTED, PLANTED]
    assert_refused(command("privatize", seeded, *record), "made with a seed")
    assert_refused(command("privatize", head_list, *record, "--seed=1"), "made with a seed")
    reports = ["-o", str(place / "reports.parquet")]
    assert_refused(command("privatize", seeded, log, *reports), "made with a seed")
    assert_refused(command("privatize", head_list, log, "--seed=1", *reports), "made with a seed")
    assert names_in(place) == []


def test_nobody_reports_against_an_empty_list(command: Command, tmp_path: Path, log: Path) -> None:
    empty = tmp_path / "empty"
    assert command("head-list", log, "--epsilon=0.1", "--delta=1e-9", "-o", empty).status == 0
    outcome = command("privatize", empty / "head_list.json", "--record", PLANTED, PLANTED)
    assert_refused(outcome, "at least one query")


def test_reports_are_written_in_the_format_that_the_name_says(
    command: Command, head_list: Path, log: Path, place: Path
) -> None:
    reports = place / "reports.jsonl"
    outcome = command("privatize", head_list, log, "-o", reports)
    if outcome.status:  # to refuse the name is as good
        assert_refused(outcome, "--output", ".parquet")
        assert names_in(place) == []
    else:
        assert command("estimate", head_list, reports, "-o", place / "clients.json").status == 0
