"""Encryption of contributions: bound to owner and campaign, with lengths rounded up.

AES-256-GCM with a random nonce. At most 2^32 contributions may be encrypted under one key; a
campaign has far fewer. Contents are padded to powers of two, so that sizes reveal little.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import Record
from blender_dp.service.keys.key_vault import KeyVault, Purpose
from blender_dp.service.storage.store import Contribution
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.service import contribution as wire

_RECORDS = msgspec.msgpack.Decoder(list[tuple[str, str]])
_ENCODER = msgspec.msgpack.Encoder()
Decrypt = Callable[[Contribution], list[Record]]
_NONCE_BYTES = 12
_LENGTH_BYTES = 8
_SMALLEST = 1 << 10
"""Smallest padded size in bytes, equal for no records and for a few."""


class DecryptionError(BlenderError):
    """The stored bytes were not encrypted for this owner and campaign, or were changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCipher:
    """Encrypts and decrypts the contributions of one campaign."""

    key: bytes = field(repr=False)
    campaign: UUID
    draw: Callable[[int], bytes] = os.urandom
    """Source of nonces."""

    def encrypt(self, content: bytes, *, enrolment: bytes) -> bytes:
        """Return a contribution encrypted for its enrolment."""
        nonce = self.draw(_NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, pad(content), self._owner(enrolment))

    def decrypt(self, encrypted: bytes, *, enrolment: bytes) -> bytes:
        """Return a contribution; fail if it belongs to another enrolment or was changed."""
        nonce, content = encrypted[:_NONCE_BYTES], encrypted[_NONCE_BYTES:]
        try:
            content = AESGCM(self.key).decrypt(nonce, content, self._owner(enrolment))
        except (InvalidTag, ValueError):
            raise DecryptionError("a stored contribution cannot be decrypted") from None
        length = int.from_bytes(content[:_LENGTH_BYTES], "big")
        return content[_LENGTH_BYTES : _LENGTH_BYTES + length]

    def _owner(self, enrolment: bytes) -> bytes:
        return b"blender-dp contribution 1\0" + self.campaign.bytes + enrolment


def pad(content: bytes) -> bytes:
    """Return the length, the content, and zeros up to a power of two.

    >>> [len(pad(bytes(n))) for n in (0, 1016, 1017, 5000)]
    [1024, 1024, 2048, 8192]
    """
    needed = _LENGTH_BYTES + len(content)
    size = max(_SMALLEST, 1 << (needed - 1).bit_length())
    return (len(content).to_bytes(_LENGTH_BYTES, "big") + content).ljust(size, b"\0")


def content_tag(key: bytes, content: bytes, *, size: int = 16) -> bytes:
    """Return a keyed tag, equal for equal contents; it reveals nothing without the key."""
    return hashlib.blake2b(content, key=key, digest_size=size).digest()


def encrypt_contribution(
    keys: KeyVault, campaign_id: UUID, enrolment: bytes, given: wire.Contribution
) -> Contribution:
    """Encrypt an upload for storage, with a tag by which a repeated upload is recognised.

    The tag covers the enrolment, so that equal uploads of two people have different tags.
    """
    document: dict[str, Any] = wire.contribution_document(given)
    tagged = enrolment + canonical(document)
    cipher = RecordCipher(key=keys.key(campaign_id, Purpose.RECORDS), campaign=campaign_id)
    consent, records = given.consent, _ENCODER.encode(list(map(tuple, given.records)))
    return Contribution(
        enrolment=enrolment,
        encrypted=cipher.encrypt(records, enrolment=enrolment),
        tag=content_tag(keys.key(campaign_id, Purpose.RECORD_TAGS), tagged),
        consent_version=consent.version,
        consent_digest=consent.text_digest,
        consent_given_at=consent.given_at,
    )


def make_decrypter(keys: KeyVault, campaign_id: UUID) -> Decrypt:
    """Return a function that decrypts a campaign's contributions; fail without their key."""
    cipher = RecordCipher(key=keys.key(campaign_id, Purpose.RECORDS), campaign=campaign_id)

    def records_of(contribution: Contribution) -> list[Record]:
        content = cipher.decrypt(contribution.encrypted, enrolment=contribution.enrolment)
        return [Record(query, url) for query, url in _RECORDS.decode(content)]

    return records_of
