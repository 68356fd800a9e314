"""Encrypted reports: the shared vectors, round trips, and what the collector does not count."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from wire.lists import RELAY_LIST

from blender_dp.core.errors import BrokenInvariantError, InputError
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.relayed.encrypted_report import (
    RefusedRelayedReportError,
    RelayedFault,
    RelayedReport,
    ReportEncryption,
    encryption_key_of,
    relayed_report_document,
    relayed_reports_document,
)
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.service.signed_head_list import read_signed_head_list

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "test_vectors" / "relayed_reports.json").read_text(encoding="utf-8"))
SIGNED = read_signed_head_list(VECTORS["signed_head_list"])
ENCRYPTION = ReportEncryption(SIGNED.head_list, campaign=SIGNED.campaign, digest=SIGNED.digest)
WITH_TOKENS = json.loads((ROOT / "test_vectors" / "report_tokens.json").read_text(encoding="utf-8"))
TOKEN_LIST = read_signed_head_list(WITH_TOKENS["signed_head_list"])
TOKEN_ENCRYPTION = ReportEncryption(
    TOKEN_LIST.head_list, campaign=TOKEN_LIST.campaign, digest=TOKEN_LIST.digest
)
KEY = X25519PrivateKey.from_private_bytes(from_text(VECTORS["collector_key"], 32) or b"")
OWN_KEY = X25519PrivateKey.from_private_bytes(bytes(range(32)))
OWN_DIGEST, OWN_CAMPAIGN = head_list_digest(RELAY_LIST), UUID(int=7)
OWN = ReportEncryption(RELAY_LIST, campaign=OWN_CAMPAIGN, digest=OWN_DIGEST)
Vector = dict[str, Any]


def content(text: str) -> bytes:
    """Read base64url of any length."""
    found = from_text(text, len(text) * 3 // 4)
    assert found is not None
    return found


def fault_of(encryption: ReportEncryption, encrypted: bytes, key: X25519PrivateKey) -> RelayedFault:
    with pytest.raises(RefusedRelayedReportError) as refusal:
        encryption.decrypt(encrypted, key)
    return refusal.value.fault


@pytest.mark.parametrize("vector", VECTORS["reports"], ids=lambda v: str(v["cell"]))
def test_what_another_program_encrypted_is_read(vector: Vector) -> None:
    report = ENCRYPTION.decrypt(content(vector["encrypted"]), KEY)
    assert report == RelayedReport(report_id=content(vector["report_id"]), cell=vector["cell"])
    assert ENCRYPTION.length == VECTORS["report_length"] == len(content(vector["encrypted"]))


@pytest.mark.parametrize("vector", VECTORS["refused_reports"], ids=lambda v: str(v["name"]))
def test_what_no_device_of_this_list_sent_is_refused(vector: Vector) -> None:
    fault = fault_of(ENCRYPTION, content(vector["encrypted"]), KEY)
    assert fault == vector["fault"]


def test_every_fault_has_a_vector() -> None:
    vectors = [*VECTORS["refused_reports"], *WITH_TOKENS["refused_relayed_reports"]]
    assert {vector["fault"] for vector in vectors} == set(RelayedFault)


@pytest.mark.parametrize("vector", WITH_TOKENS["relayed_reports"], ids=lambda v: str(v["cell"]))
def test_a_report_with_a_token_is_read(vector: Vector) -> None:
    report = TOKEN_ENCRYPTION.decrypt(content(vector["encrypted"]), KEY)
    assert report == RelayedReport.with_token(content(vector["token"]), vector["cell"])
    assert report.report_id == content(vector["report_id"])
    assert len(content(vector["encrypted"])) == TOKEN_ENCRYPTION.length


@pytest.mark.parametrize(
    "vector", WITH_TOKENS["refused_relayed_reports"], ids=lambda v: str(v["name"])
)
def test_no_report_counts_without_a_token_of_its_campaign(vector: Vector) -> None:
    fault = fault_of(TOKEN_ENCRYPTION, content(vector["encrypted"]), KEY)
    assert fault == vector["fault"]


def test_a_report_has_a_token_exactly_if_its_list_needs_one() -> None:
    with_id = RelayedReport(report_id=bytes(16), cell=0)
    with_token = RelayedReport.with_token(bytes(354), 0)
    for encryption, report in ((TOKEN_ENCRYPTION, with_id), (ENCRYPTION, with_token)):
        with pytest.raises(BrokenInvariantError):
            encryption.encrypt(report, encryption_key_of(KEY))


@given(st.binary(min_size=16, max_size=16), st.integers(0, 7))
def test_what_is_encrypted_is_what_is_read(report_id: bytes, cell: int) -> None:
    report = RelayedReport(report_id=report_id, cell=cell)
    encrypted = OWN.encrypt(report, encryption_key_of(OWN_KEY))
    assert len(encrypted) == OWN.length
    assert OWN.decrypt(encrypted, OWN_KEY) == report


@given(st.integers(0, 8 * 66 - 1))
def test_no_bit_can_be_changed(bit: int) -> None:
    vector = VECTORS["reports"][0]["encrypted"]
    changed = bytearray(content(vector))
    changed[bit // 8] ^= 1 << bit % 8
    # X25519 ignores the highest bit of a point, but HPKE binds the bytes that were sent.
    assert fault_of(ENCRYPTION, bytes(changed), KEY) is RelayedFault.ENCRYPTION


def test_a_report_is_bound_to_campaign_list_and_key() -> None:
    report = RelayedReport(report_id=bytes(16), cell=2)
    encrypted = OWN.encrypt(report, encryption_key_of(OWN_KEY))
    other_campaign = ReportEncryption(RELAY_LIST, campaign=UUID(int=8), digest=OWN_DIGEST)
    other_list = ReportEncryption(RELAY_LIST, campaign=OWN_CAMPAIGN, digest=SIGNED.digest)
    assert fault_of(other_campaign, encrypted, OWN_KEY) is RelayedFault.ENCRYPTION
    assert fault_of(other_list, encrypted, OWN_KEY) is RelayedFault.ENCRYPTION
    assert fault_of(OWN, encrypted, KEY) is RelayedFault.ENCRYPTION


def test_equal_reports_look_different_and_unlike_their_plaintext() -> None:
    report = RelayedReport(report_id=b"a canary of 16 b", cell=5)
    sent = [OWN.encrypt(report, encryption_key_of(OWN_KEY)) for _ in range(50)]
    assert max(Counter(sent).values()) == 1
    assert not any(report.report_id in one for one in sent)


@pytest.mark.parametrize("key", ["", "A" * 43, "A" * 44, "!" * 43])
def test_a_key_that_cannot_encrypt_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="the head list: names a key that cannot encrypt"):
        OWN.encrypt(RelayedReport(report_id=bytes(16), cell=0), key)


def test_a_device_sends_one_report_or_many() -> None:
    one, two = bytes(66), bytes([1]) * 66
    shared = {"version": 1, "head_list": OWN_DIGEST, "encryption_key": "key"}
    assert relayed_report_document(OWN_DIGEST, "key", one) == {**shared, "report": to_text(one)}
    many = relayed_reports_document(OWN_DIGEST, "key", [one, two])
    assert many == {**shared, "reports": [to_text(one), to_text(two)]}
