"""The published head list: what is written is what is read, and an edit is noticed."""

import copy
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire.lists import (
    LIST,
    RELAY_LIST,
    SHARP_LIST,
    digest_by_hand,
    head_lists,
    write_json,
    write_with_digest,
)

from blender_dp.core.errors import InputError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.published.head_list import head_list_digest, head_list_document, read_head_list

KNOWN_TEXT = (
    '{"format":"blender-dp head list","mechanism":{"delta":"1e-05","epsilon":"4.0",'
    '"name":"local-alg","query_budget_fraction":"0.85","records_per_client":1,"version":1},'
    '"private":true,"queries":[{"query":"news","urls":["a.example"]},'
    '{"query":"weather","urls":["b.example","c.example/é"]},{"query":"★","urls":["*"]}],'
    '"version":1}'
)
KNOWN_DIGEST = "a962808ac9347c3222f9827b472df24ed3b4caa54d065aacfb600a8830fe296c"
"""Of the text above, by ``printf %s "$TEXT" | sha256sum``."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lists")


@settings(deadline=None)
@given(head_list=head_lists)
def test_a_list_is_read_as_it_was_written(folder: Path, head_list: HeadList) -> None:
    path = folder / "head_list.json"
    write_document(path, head_list_document(head_list))
    assert read_head_list(path) == head_list


@settings(deadline=None)
@given(head_list=head_lists)
def test_the_digest_in_the_file_follows_from_the_stated_rule(
    folder: Path, head_list: HeadList
) -> None:
    path = folder / "head_list.json"
    write_document(path, head_list_document(head_list))
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["digest"] == digest_by_hand(document) == head_list_digest(head_list)


def test_the_digest_of_a_known_list_never_changes() -> None:
    assert hashlib.sha256(KNOWN_TEXT.encode()).hexdigest() == KNOWN_DIGEST
    assert head_list_digest(LIST) == f"sha256:{KNOWN_DIGEST}"


def test_subset_selection_is_published_with_its_two_numbers() -> None:
    mechanism = head_list_document(SHARP_LIST)["mechanism"]
    assert mechanism == {
        "name": "subset-selection",
        "version": 1,
        "epsilon": "1.0",
        "query_share": "0.25",
    }


def test_a_relay_is_published_with_its_promise_and_its_rules(tmp_path: Path) -> None:
    document = head_list_document(RELAY_LIST)
    assert document["relay"] == {
        "name": "relayed-response",
        "version": 1,
        "epsilon": "1.0",
        "delta": "1e-05",
        "report_epsilon": "3.25",
        "least_batch": 500,
        "dishonest": "0.2",
    }
    assert read_head_list(write_json(tmp_path / "head_list.json", document)) == RELAY_LIST
    assert "relay" not in head_list_document(SHARP_LIST)
    assert head_list_digest(RELAY_LIST) != head_list_digest(SHARP_LIST)


def test_a_mechanism_is_chosen_by_its_name_among_those_of_its_clients(tmp_path: Path) -> None:
    """A direct report by a relay's mechanism would spend ε0, which the list does not promise."""
    document = head_list_document(RELAY_LIST)
    local, relay = document["mechanism"], document["relay"]
    for name, other, known in (
        ("mechanism", relay, "local-alg/1 or subset-selection/1"),
        ("relay", local, "relayed-response/1"),
    ):
        path = write_with_digest(tmp_path / f"{name}.json", {**document, name: other})
        with pytest.raises(InputError, match=f"field {name}: .* must be those of {known}$"):
            read_head_list(path)


def test_the_digest_does_not_depend_on_how_the_file_is_laid_out(tmp_path: Path) -> None:
    document = head_list_document(LIST)
    backwards = dict(reversed(document.items()))
    path = tmp_path / "head_list.json"
    path.write_text(json.dumps(backwards, indent=7, ensure_ascii=True), encoding="utf-8")
    assert read_head_list(path) == LIST


@given(first=head_lists, second=head_lists)
def test_lists_have_one_digest_only_if_they_are_equal(first: HeadList, second: HeadList) -> None:
    assert (head_list_digest(first) == head_list_digest(second)) == (first == second)


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to every field of a document, at every depth."""
    if at:
        yield at
    names = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for name in names:
        yield from places(value[name], (*at, name))


def changed(value: Any) -> Any:
    """Return a value like this one, but another."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + " "
    return value[1:] if isinstance(value, list) else {**value, "more": 0}


def edited(document: dict[str, Any], place: tuple[str | int, ...], edit: str) -> dict[str, Any]:
    """Return the document with one field changed, removed, doubled or turned into null."""
    copied = copy.deepcopy(document)
    parent: Any = copied
    for name in place[:-1]:
        parent = parent[name]
    last = place[-1]
    if edit == "remove":
        del parent[last]
    elif edit == "double" and isinstance(parent, list):
        parent.append(parent[int(last)])
    elif edit == "double":
        parent[f"{last} again"] = parent[last]
    else:
        parent[last] = None if edit == "null" else changed(parent[last])
    return copied


@settings(deadline=None)
@given(
    place=st.sampled_from(list(places(head_list_document(LIST)))),
    edit=st.sampled_from(["change", "remove", "null", "double"]),
)
def test_any_edited_field_is_noticed(folder: Path, place: tuple[str | int, ...], edit: str) -> None:
    document = edited(head_list_document(LIST), place, edit)
    path = write_json(folder / "edited.json", document)
    with pytest.raises(InputError) as refusal:
        read_head_list(path)
    message = str(refusal.value)
    field = place[0] if place[0] in ("format", "version") and edit != "double" else "digest"
    assert message.startswith(f"{path}, field {field}: ")
    assert not any(name in message for name in ("weather", "a.example", "sha256", "★"))


def test_two_lists_swapped_under_one_digest_are_noticed(tmp_path: Path) -> None:
    document = head_list_document(LIST)
    document["queries"] = document["queries"][::-1]
    with pytest.raises(InputError, match="field digest: does not match the rest of the file"):
        read_head_list(write_json(tmp_path / "head_list.json", document))
