"""The vectors of signed head lists say what they claim: checked here without any of our code."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from wire.lists import canonical, digest_by_hand

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.service.signed_head_list import read_signed_head_list

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "signed_head_list.json").read_text(encoding="utf-8"))
Document = dict[str, Any]


def from_letters(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_signed(document: Document) -> bool:
    signed = {
        "campaign": document["campaign"],
        "description": document["description"],
        "head_list": document["head_list"]["digest"],
        "log_entry": document["log_entry"]["hash"],
    }
    message = b"blender-dp signed head list 2\0" + canonical(signed).encode()
    public_key = Ed25519PublicKey.from_public_bytes(from_letters(document["public_key"]))
    try:
        public_key.verify(from_letters(document["signature"]), message)
    except InvalidSignature:
        return False
    return True


def is_entry(entry: Document) -> bool:
    names = {"index", "time", "kind", "campaign", "digest", "previous", "hash"}
    return (
        set(entry) == names
        and type(entry["index"]) is int
        and len(entry["previous"]) == len("sha256:") + 64
        and re.fullmatch(r"[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}Z", entry["time"])
        is not None
        and re.fullmatch(r"[0-9a-f-]{36}", entry["campaign"]) is not None
    )


def entry_is_right(document: Document) -> bool:
    entry = dict(document["log_entry"])
    if not is_entry(entry):
        return False
    stated = entry.pop("hash")
    hashed = "sha256:" + hashlib.sha256(canonical(entry).encode()).hexdigest()
    about = (entry["kind"], entry["digest"], entry["campaign"])
    listed = ("head-list", document["head_list"]["digest"], document["campaign"])
    return bool(stated == hashed and about == listed)


def is_whole(document: Document, folder: Path) -> bool:
    """Tell whether everything that does not depend on a device's policy is in order."""
    if set(document) != set(VECTORS["good"]) or document["version"] != 2:
        return False
    path = folder / "head_list.json"
    path.write_text(json.dumps(document["head_list"]), encoding="utf-8")
    try:
        read_head_list(path)
    except InputError:
        return False
    right_format = document["format"] == "blender-dp signed head list"
    right_length = len(document["signature"]) == 86
    bound = re.fullmatch(r"sha256:[0-9a-f]{64}", document["description"]) is not None
    return (
        right_format and right_length and bound and is_signed(document) and entry_is_right(document)
    )


@pytest.mark.parametrize("name", ["good", "signed_by_another_key"])
def test_a_good_list_is_in_order(tmp_path: Path, name: str) -> None:
    document = VECTORS[name]
    assert document["head_list"]["digest"] == digest_by_hand(document["head_list"])
    assert is_whole(document, tmp_path)


@pytest.mark.parametrize("what", VECTORS["broken"])
def test_a_broken_list_is_not(tmp_path: Path, what: str) -> None:
    assert not is_whole(VECTORS["broken"][what], tmp_path)


@pytest.mark.parametrize("what", VECTORS["refused_by_policy"])
def test_what_a_policy_refuses_is_otherwise_in_order(tmp_path: Path, what: str) -> None:
    assert is_whole(VECTORS["refused_by_policy"][what], tmp_path)


def test_the_good_list_is_bound_to_its_description() -> None:
    assert VECTORS["good"]["description"] == digest_by_hand(VECTORS["description"])


@pytest.mark.parametrize("what", VECTORS["refused_by_description"])
def test_what_a_description_forbids_is_otherwise_in_order(tmp_path: Path, what: str) -> None:
    assert is_whole(VECTORS["refused_by_description"][what]["signed"], tmp_path)


def test_the_two_keys_differ() -> None:
    good, other = VECTORS["good"], VECTORS["signed_by_another_key"]
    assert good["public_key"] != other["public_key"]
    assert good["head_list"] == other["head_list"]


def test_our_reader_takes_the_good_list() -> None:
    assert read_signed_head_list(VECTORS["good"]).document == VECTORS["good"]["head_list"]


@pytest.mark.parametrize("name", VECTORS["broken"])
def test_our_reader_refuses_every_broken_list(name: str) -> None:
    """One thing is wrong with each, and everything else fits: no check stands in for another."""
    with pytest.raises(BlenderError):
        read_signed_head_list(VECTORS["broken"][name])
