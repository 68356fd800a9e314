"""Logs, signed lists and reports with ids: the shared vectors, and every way to break them."""

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from wire.lists import canonical

from blender_dp.core.errors import BlenderError
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.service_report import ReportReader, question_of
from blender_dp.wire.service.hash_chain import BrokenChainError, require_chain
from blender_dp.wire.service.signatures import SignatureError, public_key_of, require_signature
from blender_dp.wire.service.signed_head_list import read_signed_head_list
from blender_dp.wire.service.signed_log import log_document, read_log

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "signed_documents.json").read_text(encoding="utf-8"))
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
GOOD = VECTORS["signed_head_lists"][0]["document"]
Vector = dict[str, Any]


def named(vector: Vector) -> str:
    return str(vector["name"])


@pytest.mark.parametrize("vector", VECTORS["chains"], ids=named)
def test_a_log_is_refused_at_its_first_broken_entry(vector: Vector) -> None:
    if vector["broken_at"] is None:
        require_chain(vector["entries"], has_actors=vector["has_actors"])
        return
    with pytest.raises(BrokenChainError, match=f"entry {vector['broken_at']} of the log"):
        require_chain(vector["entries"], has_actors=vector["has_actors"])


def test_the_hash_of_an_entry_covers_every_other_field() -> None:
    for entry in VECTORS["chains"][0]["entries"]:
        others = {name: value for name, value in entry.items() if name != "hash"}
        by_hand = hashlib.sha256(canonical(others).encode()).hexdigest()
        assert entry["hash"] == f"sha256:{by_hand}"


@pytest.mark.parametrize("field", ["index", "time", "kind", "campaign", "digest", "previous"])
def test_no_field_of_an_entry_can_be_changed(field: str) -> None:
    entries = copy.deepcopy(VECTORS["chains"][0]["entries"])
    entries[1][field] = entries[2 if field == "campaign" else 3][field]
    with pytest.raises(BrokenChainError, match="entry 1 of the log"):
        require_chain(entries)


def test_a_later_piece_is_checked_against_the_entry_before_it() -> None:
    entries = VECTORS["chains"][0]["entries"]
    require_chain(entries[2:], after=entries[1])
    with pytest.raises(BrokenChainError, match="entry 1 of the log must have the index 1"):
        require_chain(entries[2:], after=entries[0])


def test_an_entry_is_never_earlier_than_the_one_before_though_a_clock_was_set_back() -> None:
    times = [entry["time"] for entry in VECTORS["chains"][0]["entries"]]
    assert times == sorted(times)
    assert times[1] == times[2]


@pytest.mark.parametrize("vector", VECTORS["signed_head_lists"], ids=named)
def test_only_the_good_signed_list_is_read(vector: Vector) -> None:
    if vector["is_good"]:
        signed = read_signed_head_list(vector["document"])
        assert signed.public_key == VECTORS["public_key"] == public_key_of(KEY)
        assert signed.digest == signed.log_entry["digest"]
        assert len(signed.head_list.queries) == 40
        return
    with pytest.raises(BlenderError):
        read_signed_head_list(vector["document"])


def test_the_signature_is_over_the_stated_bytes() -> None:
    signed = {
        "campaign": GOOD["campaign"],
        "description": GOOD["description"],
        "head_list": GOOD["head_list"]["digest"],
        "log_entry": GOOD["log_entry"]["hash"],
    }
    message = b"blender-dp signed head list 2\0" + canonical(signed).encode()
    assert GOOD["signature"] == to_text(KEY.sign(message))
    log = VECTORS["log"]
    head = b"blender-dp log head 1\0" + log["entries"][-1]["hash"].encode()
    assert log["signature"] == to_text(KEY.sign(head))


@pytest.mark.parametrize("name", ["public_key", "signature"])
@pytest.mark.parametrize("value", [None, 7, "", "é" * 43, "A" * 43, "A" * 86])
def test_what_is_no_key_or_signature_is_refused(name: str, value: object) -> None:
    with pytest.raises(SignatureError):
        read_signed_head_list({**GOOD, name: value})


def test_a_log_is_signed_at_its_last_entry() -> None:
    entries, key = read_log(VECTORS["log"])
    assert key == VECTORS["public_key"]
    require_chain(entries)
    with pytest.raises(SignatureError):
        read_log({**VECTORS["log"], "entries": entries[:-1]})
    assert read_log(log_document([], KEY)) == ([], key)
    end = log_document([], KEY, after=entries[-1])
    assert read_log(end, entries[-1]) == ([], key)
    for other in (None, entries[0]):
        with pytest.raises(SignatureError):
            read_log(end, other)


@pytest.mark.parametrize("entries", [None, {}, "x"])
def test_what_is_no_log_is_refused(entries: object) -> None:
    with pytest.raises(BlenderError, match="must have the fields entries"):
        read_log({**VECTORS["log"], "entries": entries})


def test_a_message_that_was_not_signed_is_refused() -> None:
    with pytest.raises(SignatureError, match="the log has a signature that is not that of its key"):
        require_signature("the log", VECTORS["log"], b"another message")


@pytest.mark.parametrize("vector", VECTORS["reports"], ids=lambda v: v["report_id"][:6])
def test_the_id_of_a_report_decides_its_question(vector: Vector) -> None:
    head_list = read_signed_head_list(GOOD).head_list
    reader, document = ReportReader(head_list), vector["document"]
    ids = reader.ids([document["report_id"]])
    assert ids.hex() == vector["report_id"]
    assert question_of(ids, head_list) == document["question"]
    [answers] = reader.subsets(ids, [document["question"]], [document["items"]])
    assert answers.items.tolist() == [vector["items"]]


def test_the_vectors_have_reports_to_both_questions() -> None:
    asked = {vector["document"]["question"] for vector in VECTORS["reports"]}
    assert asked == {"record", "query"}
