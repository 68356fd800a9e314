"""Statements and pieces of a relay: the shared vectors, round trips, and what is refused."""

import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from wire.lists import canonical

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.wire.relayed.batch import (
    Destroyed,
    Forwarded,
    piece_document,
    read_piece,
    read_statement,
    statement_document,
)
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.service.signatures import SignatureError, public_key_of

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "relayed_reports.json").read_text(encoding="utf-8"))
KEY = Ed25519PrivateKey.from_private_bytes(from_text(VECTORS["relay_key"], 32) or b"")
LENGTH = VECTORS["report_length"]
DIGEST = "sha256:" + "a" * 64
Vector = dict[str, Any]


def named(vector: Vector) -> str:
    return str(vector["name"])


@pytest.mark.parametrize("vector", VECTORS["statements"], ids=named)
def test_only_good_statements_are_read(vector: Vector) -> None:
    document = vector["document"]
    if vector["is_good"]:
        signed = read_statement(document)
        assert signed.public_key == public_key_of(KEY)
        assert statement_document(signed.statement, KEY) == document
        return
    with pytest.raises(BlenderError):
        read_statement(document)


@pytest.mark.parametrize("vector", VECTORS["pieces"], ids=named)
def test_only_good_pieces_are_read(vector: Vector) -> None:
    document = vector["document"]
    if vector["is_good"]:
        piece = read_piece(document, LENGTH)
        rows = [piece.encrypted[i : i + LENGTH] for i in range(0, len(piece.encrypted), LENGTH)]
        assert piece_document(statement_document(piece.statement, KEY), piece.piece, rows) == (
            document
        )
        return
    with pytest.raises(InputError):
        read_piece(document, LENGTH)


def test_the_signature_is_over_the_stated_bytes() -> None:
    document = VECTORS["statements"][0]["document"]
    message = b"blender-dp relay statement 1\0" + canonical(document["statement"]).encode()
    assert document["signature"] == to_text(KEY.sign(message))


def test_the_digest_is_over_all_reports_in_the_order_sent() -> None:
    sent = b"".join(from_text(v["encrypted"], LENGTH) or b"" for v in VECTORS["reports"])
    stated = VECTORS["statements"][0]["document"]["statement"]
    assert stated["digest"] == "sha256:" + hashlib.sha256(sent).hexdigest()


@given(st.integers(1, 200), st.integers(1, 200), st.data())
def test_pieces_hold_every_report_once(count: int, size: int, data: st.DataObject) -> None:
    """A batch split as its statement says is read back whole, and no piece is empty."""
    pieces = -(-count // size)
    pieces = -(-count // -(-count // pieces))  # what is left when all pieces are equally large
    statement = Forwarded(
        campaign=UUID(int=1), head_list=DIGEST, count=count, pieces=pieces, digest=DIGEST
    )
    signed = statement_document(statement, KEY)
    reports = [i.to_bytes(4) for i in range(count)]
    each, read = statement.piece_size, b""
    for piece in range(pieces):
        sent = reports[piece * each : (piece + 1) * each]
        assert len(sent) == statement.size_of(piece) >= 1
        read += read_piece(json.loads(json.dumps(piece_document(signed, piece, sent))), 4).encrypted
    assert read == b"".join(reports)
    last = piece_document(signed, pieces - 1, reports[(pieces - 1) * each :])
    wrong = data.draw(st.sampled_from([[], [*last["reports"], last["reports"][0]]]))
    with pytest.raises(InputError, match="must have as many reports"):
        read_piece({**last, "reports": wrong}, 4)


@given(st.integers(0, 10**9))
def test_a_destroyed_batch_is_stated(count: int) -> None:
    statement = Destroyed(campaign=UUID(int=1), head_list=DIGEST, count=count)
    assert read_statement(statement_document(statement, KEY)).statement == statement


@pytest.mark.parametrize("name", ["campaign", "head_list", "count", "pieces", "digest"])
def test_no_field_of_a_statement_can_be_changed_or_left_out(name: str) -> None:
    document = VECTORS["statements"][0]["document"]
    others = {"campaign": str(UUID(int=9)), "head_list": DIGEST, "count": 6, "pieces": 5}
    changed = {**document["statement"], name: others.get(name, DIGEST)}
    with pytest.raises(SignatureError):
        read_statement({**document, "statement": changed})
    del changed[name]
    with pytest.raises(InputError):
        read_statement({**document, "statement": changed})
