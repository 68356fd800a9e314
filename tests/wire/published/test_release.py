"""The release: read back as written, and refused if it breaks a rule."""

import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from core.small_result import empty_result, small_result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pages.report_inputs import make_release
from wire.lists import write_json

from blender_dp.core.errors import InputError
from blender_dp.core.estimation.release import Release
from blender_dp.wire.documents.document import MOST_BYTES, write_document
from blender_dp.wire.published.release import read_release, release_document, release_of
from logs import PLANTED


def document() -> dict[str, Any]:
    return release_document(small_result(), {}, created="2026-11-15T09:00:00Z")


def read(folder: Path, changed: Any) -> Release:
    return read_release(write_json(folder / "release.json", changed))


def refusal_of(folder: Path, changed: Any) -> str:
    """Return how a release is refused, after its name: one sentence, without its content."""
    with pytest.raises(InputError) as refusal:
        read(folder, changed)
    message = str(refusal.value)
    assert message.startswith(str(folder / "release.json"))
    assert "\n" not in message
    assert PLANTED not in message
    return message.removeprefix(str(folder / "release.json"))


@pytest.mark.parametrize("private", [True, False])
def test_a_release_is_as_private_as_its_head_list(*, private: bool) -> None:
    result = small_result()
    head_list = replace(result.head_list, private=private)
    result = replace(result, curated=replace(result.curated, head_list=head_list))
    assert release_document(result, {}, created="")["private"] is private


def test_a_release_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    write_document(path, document())
    release, written = read_release(str(path)), document()
    assert (release.private, release.preset, release.confidence) == (False, "paper", 0.95)
    assert (release.epsilon, release.delta) == (4.0, 1e-5)
    assert (release.opt_in_users, release.client_users) == (100, 1000)
    for rows, fields in ((release.records, "records"), (release.queries, "queries")):
        for row, original in zip(rows, written[fields], strict=True):
            kept = {name: getattr(row, name) for name in original if not name.endswith("_count")}
            assert kept == {k: v for k, v in original.items() if not k.endswith("_count")}


def test_listed_rows_are_told_from_the_rest(tmp_path: Path) -> None:
    release = read(tmp_path, document())
    assert {row.query for row in release.listed_queries()} == {"a", "b"}
    listed = release.listed_records()
    assert {query: {row.url for row in rows} for query, rows in listed.items()} == {
        "a": {"1", "2"},
        "b": {"1"},
    }
    first, second = listed["a"]
    assert first.probability >= second.probability


@pytest.mark.parametrize(
    "changed",
    [
        release_document(empty_result(), {}, created=""),
        release_document(small_result(project=False), {}, created=""),
        make_release(),
    ],
    ids=["empty", "not projected", "made up"],
)
def test_every_release_we_write_is_read(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert len(read(tmp_path, changed).queries) == len(changed["queries"])


def test_where_no_client_was_asked_the_estimate_and_its_error_are_null(tmp_path: Path) -> None:
    changed = document()
    for row in changed["records"]:
        row.update(client_probability=None, client_std_error=None)
    assert {row.client_probability for row in read(tmp_path, changed).records} == {None}


@pytest.mark.parametrize("nouns", [("product", "state"), ("product", None), (None, "state")])
def test_the_nouns_of_a_release_are_read_back(
    tmp_path: Path, nouns: tuple[str | None, str | None]
) -> None:
    names = dict(zip(("query", "url"), nouns, strict=True))
    named = release_document(small_result(), {}, created="", names=names)
    release = read(tmp_path, named)
    assert (release.query_name, release.url_name) == nouns
    older = read(tmp_path, document())
    assert (older.query_name, older.url_name) == (None, None)


def test_what_a_later_version_adds_is_left_alone(tmp_path: Path) -> None:
    changed = document() | {"drift": {"statistic": 3.0}, "digest": "of another kind"}
    for row in changed["queries"]:
        row["between_group_variance"] = 0.1
    assert read(tmp_path, changed) == read(tmp_path, document())


Change = Callable[[dict[str, Any]], object]


def in_row(field: str, value: Any, cell: str = "record") -> Change:
    """Return the change of one field in the first row of this kind."""

    def change(changed: dict[str, Any]) -> None:
        next(row for row in changed["records"] if row["cell"] == cell)[field] = value

    return change


HOSTILE: dict[str, tuple[Change, str]] = {
    "another format": (lambda c: c.update(format=PLANTED), "field format"),
    "another version": (lambda c: c.update(version=2), "field version: must be 1"),
    "version 1 as a float": (lambda c: c.update(version=1.0), "field version"),
    "no records": (lambda c: c.pop("records"), "field records: is missing"),
    "records as a text": (lambda c: c.update(records=PLANTED), "must be a list of objects"),
    "a row that is a list": (lambda c: c["records"].append([PLANTED]), "list of objects"),
    "no promise": (lambda c: c.pop("promise"), "field promise: is missing"),
    "delta above one": (lambda c: c["promise"].update(delta=2), "delta must be a number"),
    "a confidence of one": (lambda c: c.update(confidence=1), "field confidence"),
    "private as a text": (lambda c: c.update(private="yes"), "must be true or false"),
    "clients as a float": (lambda c: c["users"].update(clients=1.5), "whole number"),
    "fewer clients than none": (lambda c: c["users"].update(clients=-1), "whole number"),
    "names as a text": (lambda c: c.update(names=PLANTED), "names must be an object"),
    "a name that is missing": (lambda c: c.update(names={"query": "a"}), "url is missing"),
    "a number as a name": (lambda c: c.update(names={"query": 1, "url": None}), "must be a text"),
    "an empty name": (lambda c: c.update(names={"query": "", "url": None}), "field names"),
    "a name that turns": (
        lambda c: c.update(names={"query": "a\u202e", "url": None}),
        "field names: must have 40 visible letters at most",
    ),
    "a long name": (lambda c: c.update(names={"query": None, "url": "x" * 41}), "field names"),
    "a probability of true": (in_row("probability", True), "must be a number"),
    "a probability as text": (in_row("probability", PLANTED), "must be a number"),
    "a probability of null": (in_row("probability", None), "must be a number"),
    "no client estimate": (in_row("client_probability", None), "null only where its error is"),
    "a negative error": (in_row("std_error", -1.0), "std_error must be a number from 0"),
    "a negative client error": (in_row("client_std_error", -1.0), "must be a number from 0"),
    "half an interval": (in_row("low", None), "must be an interval, or both null"),
    "an interval the wrong way": (in_row("low", 0.99), "must be an interval, or both null"),
    "an error without interval": (in_row("std_error", None), "where the interval is"),
    "a cell of its own kind": (in_row("cell", PLANTED), "cell must be one of"),
    "a cell of the other table": (in_row("cell", "query"), "cell must be one of"),
    "a query of null": (in_row("query", None), "query must be a text"),
    "a query that is a number": (in_row("query", 7), "query must be a text"),
    "a URL of null": (in_row("url", None), "url must be a text"),
    "a URL where there is none": (in_row("url", PLANTED, "other"), "url must be a text in rows"),
    "a row twice": (lambda c: c["records"].insert(1, c["records"][1]), "every row once"),
    "two of everything else": (
        lambda c: c["queries"].append({**c["queries"][-1], "cell": "other", "query": None}),
        "once",
    ),
    "no everything else": (lambda c: c["queries"].pop(0), "one row of everything else"),
    "rows out of order": (lambda c: c["queries"].reverse(), "must be sorted by probability"),
    "a query without records": (
        lambda c: c.update(records=[r for r in c["records"] if r["query"] != "b"]),
        "must be of the queries under queries",
    ),
    "records of another query": (
        in_row("query", PLANTED),
        "must be of the queries under queries",
    ),
    "a bound that is none": (lambda c: c.update(unlisted_bound=-1), "field unlisted_bound"),
}


@pytest.mark.parametrize(("change", "rule"), HOSTILE.values(), ids=HOSTILE)
def test_a_release_that_breaks_a_rule_is_refused(tmp_path: Path, change: Change, rule: str) -> None:
    changed = document()
    change(changed)
    assert rule in refusal_of(tmp_path, changed)


NOT_STRICT_JSON: dict[str, tuple[Change, str]] = {
    "epsilon NaN": (lambda c: c["promise"].update(epsilon=math.nan), "epsilon must be a number"),
    "a probability of NaN": (in_row("probability", math.nan), "probability must be a number"),
    "an infinite one": (in_row("raw_probability", math.inf), "must be a number"),
    "a huge integer": (in_row("probability", 10**400), "must be a number"),
    "a query of half a character": (in_row("query", "\ud800"), "whole characters"),
}


@pytest.mark.parametrize(("change", "rule"), NOT_STRICT_JSON.values(), ids=NOT_STRICT_JSON)
def test_a_file_that_is_not_strict_json_is_refused_and_so_is_what_it_holds(
    tmp_path: Path, change: Change, rule: str
) -> None:
    changed = document()
    change(changed)
    refusal_of(tmp_path, changed)
    with pytest.raises(InputError, match=rule):
        release_of(changed, tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"\xff", b'{"format":', b"[" * 100_000, b'{"a":1e999}']
)
def test_what_is_no_document_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "release.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_release(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(InputError, match="must be at most 256 MiB"):
        read_release(path)


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(InputError, match="must be at most 256 MiB"):
        read_release("/dev/zero")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(st.data())
def test_no_value_anywhere_is_a_crash(tmp_path: Path, data: st.DataObject) -> None:
    changed = json.loads(json.dumps(document()))
    place: Any = changed
    while isinstance(place, (dict, list)) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or data.draw(st.integers(0, 3)) == 0:
            place[key] = data.draw(json_values)
            break
        place = place[key]
    with suppress(InputError):
        read(tmp_path, changed)


def test_how_the_list_was_found_is_read_as_it_was_written(tmp_path: Path) -> None:
    written, read_back = document(), read(tmp_path, document()).discovery
    assert read_back is not None
    assert asdict(read_back) == written["discovery"]


def test_a_release_without_it_is_an_older_one(tmp_path: Path) -> None:
    older = document()
    del older["discovery"]
    assert read(tmp_path, older).discovery is None


@pytest.mark.parametrize(
    "changed", [{"sigma": 1.0}, {"left_slope": None}, {"users": 0}, {"average_weight": 0.5}]
)
def test_a_rule_that_is_none_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    wrong = document()
    wrong["discovery"] |= changed
    assert "discovery" in refusal_of(tmp_path, wrong)
