"""``blender-dp trends``: tables, an object for programs, a page."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.outcomes import Command, assert_refused, names_in
from pages.report_inputs import empty_release, make_release

from logs import PLANTED


def written(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def sound_release(seed: int = 1) -> dict[str, Any]:
    """Return a release in which every query has an interval."""
    document = make_release(seed=seed)
    for row in document["queries"]:
        if row["std_error"] is None:
            row.update(std_error=0.0004, low=0.0, high=0.05)
    return document


@pytest.fixture
def now(tmp_path: Path) -> Path:
    return written(tmp_path / "now.json", sound_release())


@pytest.fixture
def then(tmp_path: Path) -> Path:
    """Return a release in which google had half of its share, and one query another name."""
    document = sound_release(seed=2)
    for row in document["queries"]:
        if row["query"] == "google":
            for name in ("probability", "raw_probability", "low", "high"):
                row[name] /= 2
    document["queries"].sort(key=lambda row: -row["probability"])
    for row in [*document["queries"], *document["records"]]:
        row["query"] = "bygone" if row["query"] == "ebay" else row["query"]
    return written(tmp_path / "then.json", document)


def test_the_ranking_is_a_table(command: Command, now: Path) -> None:
    outcome = command("trends", now, "--limit=3")
    assert outcome.status == 0
    heading, first = outcome.out.splitlines()[:2]
    assert " ".join(heading.split()) == "place true place group query share 95% interval"
    assert first.split()[:4] == ["1", "1", "1", "google"]
    assert "… and 47 more" in outcome.out


def test_changes_and_lists_that_differ_are_told(command: Command, now: Path, then: Path) -> None:
    outcome = command("trends", now, then)
    assert any(line.startswith("rose") and " google " in line for line in outcome.out.splitlines())
    assert "new on the list: ebay\n" in outcome.out
    assert "left the list: bygone\n" in outcome.out


def test_the_same_release_twice_changes_nothing(command: Command, now: Path) -> None:
    assert "no change is statistically significant" in command("trends", now, now).out


def test_json_is_one_object(command: Command, now: Path, then: Path) -> None:
    found = json.loads(command("trends", now, then, "--json").out)
    assert len(found["ranking"]) == 50
    assert found["ranking"][0]["best_rank"] == 1
    assert {c["query"]: c["verdict"] for c in found["changes"]}["google"] == "rose"
    assert found["false_discovery_rate"] == 0.05
    alone = json.loads(command("trends", now, "--json").out)
    assert (alone["changes"], alone["earlier_created"]) == (None, None)


def test_a_page_is_written_whole(command: Command, now: Path, then: Path, place: Path) -> None:
    outcome = command("trends", now, then, "-o", place / "trends.html")
    assert outcome.out.endswith(f"page: {place / 'trends.html'}\n")
    assert names_in(place) == ["trends.html"]
    assert "google" in (place / "trends.html").read_text()


def test_queries_without_interval_and_seeds_are_remarked_on(
    command: Command, tmp_path: Path
) -> None:
    document = make_release() | {"private": False}
    document["queries"][3].update(std_error=None, low=None, high=None)
    outcome = command("trends", written(tmp_path / "release.json", document))
    assert "have no interval" in outcome.err
    assert "not private" in outcome.err


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("--false-discovery-rate=0", "false_discovery_rate must be between 0 and 1"),
        ("--limit=0", "limit must be at least 1"),
    ],
)
def test_a_wrong_option_is_refused(command: Command, now: Path, option: str, named: str) -> None:
    assert_refused(command("trends", now, option), named)


def test_a_release_that_is_none_is_refused_by_name(
    command: Command, now: Path, tmp_path: Path, place: Path
) -> None:
    bad = written(tmp_path / "bad.json", make_release() | {"queries": [PLANTED]})
    outcome = command("trends", now, bad, "-o", place / "trends.html")
    assert_refused(outcome, bad, "field queries")
    assert names_in(place) == []


def test_a_list_compared_with_an_empty_one_is_not_called_rare(
    command: Command, now: Path, tmp_path: Path
) -> None:
    empty = written(tmp_path / "empty.json", empty_release())
    for pair in ((now, empty), (empty, now)):
        out = " ".join(command("trends", *pair).out.split())
        assert "rarer" not in out
        assert "50 more, because the other list is empty; whether they are new or gone is" in out


def test_an_empty_release_is_said_to_be_empty(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "empty.json", empty_release())
    assert command("trends", path).out == "no query is listed\n"
