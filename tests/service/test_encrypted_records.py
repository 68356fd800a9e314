"""What is encrypted opens for its owner and campaign alone, and tells little by its length."""

from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.head_list.head_list import Record
from blender_dp.service.keys.encrypted_records import (
    DecryptionError,
    RecordCipher,
    content_tag,
    encrypt_contribution,
    pad,
)
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.wire.service.contribution import ConsentReceipt, Contribution, consent_digest
from campaign_stores import NOW

CIPHER = RecordCipher(key=b"k" * 32, campaign=UUID(int=1))
ADA, BOB = b"a" * 32, b"b" * 32


@given(content=st.binary(max_size=5000))
def test_what_is_sealed_comes_back(content: bytes) -> None:
    assert CIPHER.decrypt(CIPHER.encrypt(content, enrolment=ADA), enrolment=ADA) == content


def test_the_content_is_not_in_it_and_no_two_seals_are_alike() -> None:
    content = b"a query nobody may read"
    one, other = CIPHER.encrypt(content, enrolment=ADA), CIPHER.encrypt(content, enrolment=ADA)
    assert content not in one
    assert one != other


@pytest.mark.parametrize(
    ("cipher", "enrolment"),
    [
        (RecordCipher(key=b"x" * 32, campaign=UUID(int=1)), ADA),
        (RecordCipher(key=b"k" * 32, campaign=UUID(int=2)), ADA),
        (CIPHER, BOB),
    ],
    ids=["another key", "another campaign", "another owner"],
)
def test_it_opens_for_nobody_else(cipher: RecordCipher, enrolment: bytes) -> None:
    encrypted = CIPHER.encrypt(b"content", enrolment=ADA)
    with pytest.raises(DecryptionError):
        cipher.decrypt(encrypted, enrolment=enrolment)


@pytest.mark.parametrize("place", [0, 12, 500, -1])
def test_a_changed_bit_is_noticed(place: int) -> None:
    encrypted = bytearray(CIPHER.encrypt(b"content", enrolment=ADA))
    encrypted[place] ^= 1
    with pytest.raises(DecryptionError):
        CIPHER.decrypt(bytes(encrypted), enrolment=ADA)


@pytest.mark.parametrize("encrypted", [b"", b"short", bytes(12)])
def test_what_is_cut_short_is_refused(encrypted: bytes) -> None:
    with pytest.raises(DecryptionError):
        CIPHER.decrypt(encrypted, enrolment=ADA)


@given(size=st.integers(0, 100_000))
def test_lengths_are_powers_of_two_and_never_waste_more_than_half(size: int) -> None:
    length = len(pad(bytes(size)))
    assert length & (length - 1) == 0
    assert length == 1024 or length < 2 * (size + 8)


def test_nobody_and_a_few_records_look_alike() -> None:
    assert len(CIPHER.encrypt(b"[]", enrolment=ADA)) == len(
        CIPHER.encrypt(b"x" * 1000, enrolment=BOB)
    )


def test_the_key_is_not_shown() -> None:
    assert "kkk" not in repr(CIPHER)


def test_tags_of_equal_contributions_differ(tmp_path: Path) -> None:
    """Otherwise whoever reads the database sees which people searched for the same."""
    keys = KeyVault(tmp_path)
    consent = ConsentReceipt(version="1", text_digest=consent_digest("yes"), given_at=NOW)
    upload = Contribution(consent=consent, records=[Record("query", "u.example")])
    tags = [encrypt_contribution(keys, CIPHER.campaign, who, upload).tag for who in (ADA, BOB, ADA)]
    assert tags[0] != tags[1]
    assert tags[0] == tags[2]


def test_a_tag_depends_on_key_and_content() -> None:
    tags = {content_tag(key, text) for key in (b"1" * 32, b"2" * 32) for text in (b"a", b"b")}
    assert len(tags) == 4
    assert len(content_tag(b"1" * 32, b"a", size=8)) == 8
