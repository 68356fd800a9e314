"""Head lists that nobody could have published: one sentence each, and never their content."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from wire.lists import LIST, RELAY_LIST, SHARP_LIST, write_json, write_with_digest

from blender_dp.core.errors import InputError
from blender_dp.wire.documents.document import with_digest
from blender_dp.wire.published.head_list import (
    head_list_digest,
    head_list_document,
    head_list_in,
    read_head_list,
)
from logs import PLANTED

START = '{"format": "blender-dp head list", "version": 1, '
NO_TEXT = {
    "nothing": b"",
    "no JSON": f"{PLANTED} = 1".encode(),
    "half a file": f'{START}"queries": [{{"query": "{PLANTED}'.encode(),
    "a list": f'["{PLANTED}"]'.encode(),
    "a string": f'"{PLANTED}"'.encode(),
    "a number": b"17",
    "null": b"null",
    "a lone surrogate": f'{START}"queries": "{PLANTED}\\ud800"}}'.encode(),
    "a number of 5000 digits": f'{START}"queries": {"9" * 5000}}}'.encode(),
    "not a number": f'{START}"queries": NaN}}'.encode(),
    "Latin-1": f'{{"format": "{PLANTED}é"}}'.encode("latin-1"),
    "UTF-16": f'{{"format": "{PLANTED}"}}'.encode("utf-16"),
    "zeros": bytes(100),
    "a hundred thousand brackets": b"[" * 100_000,
    "a hundred thousand objects": b'{"a":' * 100_000,
}


def refusal_of(path: Path) -> str:
    """Return how a file is refused, after its name: one sentence, without its content."""
    with pytest.raises(InputError) as refusal:
        read_head_list(path)
    message = str(refusal.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert PLANTED not in message
    return message.removeprefix(str(path))


@pytest.mark.parametrize("content", NO_TEXT.values(), ids=NO_TEXT)
def test_a_file_that_is_no_document_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "head_list.json"
    path.write_bytes(content)
    refusal_of(path)


def test_no_depth_of_nesting_is_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "head_list.json"
    for depth in range(600, 1100, 4):
        path.write_text(f'{START}"queries": {"[" * depth}{"]" * depth}}}', encoding="utf-8")
        refusal_of(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal_of(tmp_path / "none.json") == ": no such file"
    assert "cannot be read" in refusal_of(tmp_path)


@pytest.mark.parametrize(
    "kind", ["blender-dp release", PLANTED, "", None, 1, ["blender-dp head list"]]
)
def test_another_format_is_refused(tmp_path: Path, kind: Any) -> None:
    document = {**head_list_document(LIST), "format": kind}
    message = refusal_of(write_with_digest(tmp_path / "head_list.json", document))
    assert message == ', field format: must be a file of format "blender-dp head list"'


@pytest.mark.parametrize("version", [0, 2, -1, "1", None, True, [1], PLANTED])
def test_another_version_is_refused(tmp_path: Path, version: Any) -> None:
    document = {**head_list_document(LIST), "version": version}
    message = refusal_of(write_with_digest(tmp_path / "head_list.json", document))
    assert message == ", field version: must be 1, the version this software reads"


@pytest.mark.parametrize("digest", ["", "sha256:", PLANTED, None, 1, [], "sha256:" + "0" * 64])
def test_another_digest_is_refused(tmp_path: Path, digest: Any) -> None:
    document = {**head_list_document(LIST), "digest": digest}
    assert "field digest" in refusal_of(write_json(tmp_path / "head_list.json", document))


def test_a_file_without_digest_is_refused(tmp_path: Path) -> None:
    document = head_list_document(LIST)
    del document["digest"]
    assert "field digest" in refusal_of(write_json(tmp_path / "head_list.json", document))


def entry(query: Any = PLANTED, urls: Any = (PLANTED,)) -> dict[str, Any]:
    return {"query": query, "urls": urls}


BAD_QUERIES: dict[str, Any] = {
    "null": None,
    "a string": PLANTED,
    "a number": 3,
    "an object": {PLANTED: [PLANTED]},
    "strings": [PLANTED],
    "nulls": [None],
    "lists": [[PLANTED, [PLANTED]]],
    "no query": [{"urls": [PLANTED]}],
    "no urls": [{"query": PLANTED}],
    "a query of null": [entry(query=None)],
    "a query that is a number": [entry(query=7)],
    "urls of null": [entry(urls=None)],
    "urls as a string in byte order": [entry(urls="abc")],
    "urls as an object": [entry(urls={PLANTED: 1})],
    "urls that are numbers": [entry(urls=[1, 2])],
    "urls that are lists": [entry(urls=[[PLANTED]])],
    "a url twice": [entry(urls=[PLANTED, PLANTED])],
    "urls out of order": [entry(urls=["b" + PLANTED, "a" + PLANTED])],
    "a query twice": [entry(), entry()],
    "queries out of order": [entry("b" + PLANTED), entry("a" + PLANTED)],
    "queries in the order of UTF-16": [entry("\U0001f600"), entry("\uffee")],
}


def test_a_query_may_stand_without_urls(tmp_path: Path) -> None:
    document = {**head_list_document(LIST), "queries": [entry(urls=[])]}
    path = write_with_digest(tmp_path / "head_list.json", document)
    assert read_head_list(path).urls == ((),)


@pytest.mark.parametrize("queries", BAD_QUERIES.values(), ids=BAD_QUERIES)
def test_a_broken_rule_about_queries_is_named(tmp_path: Path, queries: Any) -> None:
    document = {**head_list_document(LIST), "queries": queries}
    assert "queries" in refusal_of(write_with_digest(tmp_path / "head_list.json", document))


BAD_MECHANISM: dict[str, dict[str, Any]] = {
    "another name": {"name": "sharp"},
    "a secret name": {"name": PLANTED},
    "another version": {"version": 2},
    "ε not a number": {"epsilon": "nan"},
    "ε infinite": {"epsilon": "inf"},
    "ε zero": {"epsilon": "0"},
    "ε negative": {"epsilon": "-4.0"},
    "ε a word": {"epsilon": PLANTED},
    "ε blank": {"epsilon": ""},
    "ε null": {"epsilon": None},
    "ε a list": {"epsilon": [4]},
    "δ zero": {"delta": "0.0"},
    "δ one": {"delta": "1"},
    "δ not a number": {"delta": "nan"},
    "f_C zero": {"query_budget_fraction": "0"},
    "f_C a word": {"query_budget_fraction": PLANTED},
    "m_C zero": {"records_per_client": 0},
    "m_C negative": {"records_per_client": -1},
    "m_C half": {"records_per_client": 1.5},
    "m_C a word": {"records_per_client": PLANTED},
    "m_C null": {"records_per_client": None},
    "m_C true": {"records_per_client": True},
}


@pytest.mark.parametrize("fields", BAD_MECHANISM.values(), ids=BAD_MECHANISM)
def test_a_broken_rule_about_the_mechanism_is_named(tmp_path: Path, fields: dict[str, Any]) -> None:
    document = head_list_document(LIST)
    document["mechanism"] |= fields
    assert "mechanism" in refusal_of(write_with_digest(tmp_path / "head_list.json", document))


def test_an_epsilon_beyond_every_float_is_refused(tmp_path: Path) -> None:
    document = head_list_document(LIST)
    document["mechanism"] |= {"epsilon": 10**400}
    refusal_of(write_with_digest(tmp_path / "head_list.json", document))
    with pytest.raises(InputError, match="mechanism"):
        head_list_in("the list", with_digest(document))


BAD_SUBSET_SELECTION: dict[str, dict[str, Any]] = {
    "another version": {"version": 2},
    "ε zero": {"epsilon": "0.0"},
    "ε not a number": {"epsilon": "nan"},
    "ε as a number": {"epsilon": 1.0},
    "φ one": {"query_share": "1.0"},
    "φ negative": {"query_share": "-0.25"},
    "φ minus zero": {"query_share": "-0.0"},
    "φ a word": {"query_share": PLANTED},
    "φ null": {"query_share": None},
    "φ as a number": {"query_share": 0.25},
    "a field of LocalAlg": {"delta": "1e-05"},
    "the name of LocalAlg": {"name": "local-alg"},
}


@pytest.mark.parametrize("fields", BAD_SUBSET_SELECTION.values(), ids=BAD_SUBSET_SELECTION)
def test_a_broken_rule_about_subset_selection_is_refused(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    document = head_list_document(SHARP_LIST)
    document["mechanism"] |= fields
    refusal_of(write_with_digest(tmp_path / "head_list.json", document))


@pytest.mark.parametrize("field", ["epsilon", "query_share", "name", "version"])
def test_a_missing_field_of_subset_selection_is_named(tmp_path: Path, field: str) -> None:
    document = head_list_document(SHARP_LIST)
    del document["mechanism"][field]
    assert "mechanism" in refusal_of(write_with_digest(tmp_path / "head_list.json", document))


def test_the_mechanisms_there_are_stand_in_the_sentence(tmp_path: Path) -> None:
    document = head_list_document(LIST)
    document["mechanism"]["name"] = "sharp"
    message = refusal_of(write_with_digest(tmp_path / "head_list.json", document))
    assert message.endswith("name and version must be those of local-alg/1 or subset-selection/1")


@pytest.mark.parametrize("mechanism", [None, PLANTED, 1, [], {}])
def test_a_mechanism_that_is_none_is_named(tmp_path: Path, mechanism: Any) -> None:
    document = {**head_list_document(LIST), "mechanism": mechanism}
    assert "mechanism" in refusal_of(write_with_digest(tmp_path / "head_list.json", document))


@pytest.mark.parametrize(
    "field", ["epsilon", "delta", "query_budget_fraction", "records_per_client", "name", "version"]
)
def test_a_missing_field_of_the_mechanism_is_named(tmp_path: Path, field: str) -> None:
    document = head_list_document(LIST)
    del document["mechanism"][field]
    assert "mechanism" in refusal_of(write_with_digest(tmp_path / "head_list.json", document))


@pytest.mark.parametrize("field", ["queries", "mechanism", "private"])
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    document = head_list_document(LIST)
    del document[field]
    assert field in refusal_of(write_with_digest(tmp_path / "head_list.json", document))


@pytest.mark.parametrize("private", [PLANTED, "true", 1, 0, None, []])
def test_private_is_true_or_false_and_nothing_else(tmp_path: Path, private: Any) -> None:
    document = {**head_list_document(LIST), "private": private}
    assert "private" in refusal_of(write_with_digest(tmp_path / "head_list.json", document))


OTHER_SPELLINGS: dict[str, Callable[[dict[str, Any]], None]] = {
    "ε without a point": lambda document: document["mechanism"].update(epsilon="4"),
    "ε as a number": lambda document: document["mechanism"].update(epsilon=4.0),
    "δ in full": lambda document: document["mechanism"].update(delta="0.00001"),
    "m_C as a string": lambda document: document["mechanism"].update(records_per_client="1"),
    "a field more": lambda document: document.update(note="made by hand"),
    "a field more in the mechanism": lambda document: document["mechanism"].update(note=""),
    "a field more in an entry": lambda document: document["queries"][0].update(note=""),
}


@pytest.mark.parametrize("respell", OTHER_SPELLINGS.values(), ids=OTHER_SPELLINGS)
def test_a_list_that_is_accepted_keeps_the_digest_of_its_file(
    tmp_path: Path, respell: Callable[[dict[str, Any]], None]
) -> None:
    """Devices name a list by the digest in its file: another one would refuse their reports."""
    document = head_list_document(LIST)
    respell(document)
    path = write_with_digest(tmp_path / "head_list.json", document)
    with suppress(InputError):  # to refuse another spelling is as good
        assert head_list_digest(read_head_list(path)) in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("field", "value", "refusal"),
    [
        ("name", PLANTED, "name and version"),
        ("version", 2, "name and version"),
        ("epsilon", "0.0", "epsilon"),
        ("delta", "1.0", "delta"),
        ("report_epsilon", "-1.0", "report_epsilon"),
        ("report_epsilon", PLANTED, "report_epsilon"),
        ("least_batch", 1, "least_batch"),
        ("least_batch", 0, "least_batch"),
        ("dishonest", "1.0", "relay_dishonest"),
    ],
)
def test_a_relay_out_of_range_is_refused(
    tmp_path: Path, field: str, value: Any, refusal: str
) -> None:
    document = head_list_document(RELAY_LIST)
    document["relay"][field] = value
    assert refusal in refusal_of(write_with_digest(tmp_path / "head_list.json", document))
