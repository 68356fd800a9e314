"""Relay of a signed head list: read if it is in order, refused if the list says something else."""

import copy
import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from wire.lists import RELAY_LIST, SHARP_LIST, canonical

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.relayed.listed_relay import ListedRelay, is_relay_address
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.service.hash_chain import entry
from blender_dp.wire.service.signatures import SignatureError
from blender_dp.wire.service.signed_head_list import (
    read_signed_head_list,
    signed_head_list_document,
)

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "relayed_reports.json").read_text(encoding="utf-8"))
GOOD = VECTORS["signed_head_list"]
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
RELAY = ListedRelay(
    address="http://127.0.0.1:8090/",
    public_key=to_text(bytes(32)),
    encryption_key=to_text(bytes(32)),
)


def test_the_relay_of_a_list_is_read() -> None:
    signed = read_signed_head_list(GOOD)
    assert signed.relay is not None
    assert signed.relay.document() == GOOD["relay"]
    assert signed.head_list.relay is not None
    assert signed.description == digest_of(VECTORS["description"])


@pytest.mark.parametrize("name", VECTORS["broken_head_lists"])
def test_a_list_with_a_broken_relay_is_refused(name: str) -> None:
    with pytest.raises(BlenderError):
        read_signed_head_list(VECTORS["broken_head_lists"][name])


@pytest.mark.parametrize("name", VECTORS["refused_by_description"])
def test_what_a_description_forbids_is_otherwise_in_order(name: str) -> None:
    pair = VECTORS["refused_by_description"][name]
    signed = read_signed_head_list(pair["signed"])
    assert signed.description == digest_of(pair["description"])


@pytest.mark.parametrize("name", VECTORS["refused_by_policy"])
def test_a_promise_that_is_not_kept_is_otherwise_in_order(name: str) -> None:
    epsilon, delta = Fraction(4), Fraction(1, 100_000)
    for document, is_kept in ((GOOD, True), (VECTORS["refused_by_policy"][name], False)):
        head_list = read_signed_head_list(document).head_list
        assert head_list.relay is not None
        part = head_list.relay.certify(head_list.cells, epsilon, delta)
        assert (part.delta <= delta) == is_kept


@pytest.mark.parametrize("field", ["address", "public_key", "encryption_key"])
def test_the_signature_covers_every_field_of_the_relay(field: str) -> None:
    changed = copy.deepcopy(GOOD)
    changed["relay"][field] = RELAY.document()[field]
    with pytest.raises(SignatureError):
        read_signed_head_list(changed)


def test_the_signature_is_over_the_stated_bytes() -> None:
    signed = {
        "campaign": GOOD["campaign"],
        "description": GOOD["description"],
        "head_list": GOOD["head_list"]["digest"],
        "log_entry": GOOD["log_entry"]["hash"],
        "relay": GOOD["relay"],
    }
    message = b"blender-dp signed head list 2\0" + canonical(signed).encode()
    document = signed_head_list_document(
        GOOD["head_list"],
        GOOD["log_entry"],
        campaign=UUID(GOOD["campaign"]),
        description=GOOD["description"],
        key=KEY,
        relay=ListedRelay(**GOOD["relay"]),
    )
    assert document["signature"] == to_text(KEY.sign(message))
    assert from_text(document["public_key"], 32) == KEY.public_key().public_bytes_raw()


@pytest.mark.parametrize(
    ("head_list", "relay"), [(RELAY_LIST, None), (SHARP_LIST, RELAY)], ids=["mechanism", "relay"]
)
def test_mechanism_and_relay_come_together(head_list: HeadList, relay: ListedRelay | None) -> None:
    listed = head_list_document(head_list)
    first = entry(
        None,
        kind="head-list",
        campaign=UUID(int=1),
        digest=listed["digest"],
        time=datetime(2026, 11, 18, tzinfo=UTC),
    )
    document = signed_head_list_document(
        listed, first, campaign=UUID(int=1), description="sha256:" + "0" * 64, key=KEY, relay=relay
    )
    with pytest.raises(InputError, match="must be there exactly if the list has a relay mechanism"):
        read_signed_head_list(document)


@pytest.mark.parametrize(
    ("text", "is_address"),
    [
        ("https://relay.example/", True),
        ("http://127.0.0.1:8090/", True),
        ("http://[::1]:8090/a/", True),
        ("https://relay.example/a/b-c_d.e~f/", True),
        ("https://relay.example", False),
        ("https://relay.example/a", False),
        ("https://relay.example//", False),
        ("https://a@relay.example/", False),
        ("https://relay.example/?", False),
        ("https://relay.example/#", False),
        ("https://relay.example/é/", False),
        ("https://relay.example/\n", False),
        ("https:///", False),
        ("javascript:alert(1)/", False),
        ("https://relay.example/" + "a/" * 150, False),
    ],
)
def test_an_address_has_one_spelling(text: str, is_address: bool) -> None:
    assert is_relay_address(text) == is_address
