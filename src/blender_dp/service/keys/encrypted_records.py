"""Encryption of contributions: bound to owner and campaign, with lengths rounded up.

AES-256-GCM with a random nonce. At most 2^32 contributions may be encrypted under one key; a
campaign has far fewer. Contents are padded to powers of two, so that sizes tell little.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from blender_dp.core.errors import BlenderError

_NONCE_BYTES = 12
_LENGTH_BYTES = 8
_SMALLEST = 1 << 10
"""Bytes: an empty contribution and one of a few records have the same size."""


class DecryptionError(BlenderError):
    """What is stored was not encrypted for this owner and campaign, or was changed."""


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
    """Return a tag that tells equal contents from others, and says nothing without the key."""
    return hashlib.blake2b(content, key=key, digest_size=size).digest()
