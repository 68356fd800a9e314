"""One contribution at rest: encrypted, bound to its owner and campaign, its length blurred.

AES-256-GCM with a random nonce. At most 2^32 contributions may be sealed under a key; a campaign
has far fewer. Lengths are padded to powers of two, so that a row tells little of what is in it.
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
"""Empty contributions and those of a few records look alike."""


class BrokenSealError(BlenderError):
    """What is stored was not sealed for this owner and campaign, or was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSeal:
    """A campaign's key in use."""

    key: bytes = field(repr=False)
    campaign: UUID
    draw: Callable[[int], bytes] = os.urandom
    """Where nonces come from."""

    def seal(self, content: bytes, *, enrolment: bytes) -> bytes:
        """Return a contribution encrypted for its enrolment."""
        nonce = self.draw(_NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, padded(content), self._owner(enrolment))

    def open(self, sealed: bytes, *, enrolment: bytes) -> bytes:
        """Return what was sealed, or fail if it was for another owner or was changed."""
        nonce, encrypted = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            content = AESGCM(self.key).decrypt(nonce, encrypted, self._owner(enrolment))
        except (InvalidTag, ValueError):
            raise BrokenSealError("a stored contribution does not open with its key") from None
        length = int.from_bytes(content[:_LENGTH_BYTES], "big")
        return content[_LENGTH_BYTES : _LENGTH_BYTES + length]

    def _owner(self, enrolment: bytes) -> bytes:
        return b"blender-dp contribution 1\0" + self.campaign.bytes + enrolment


def padded(content: bytes) -> bytes:
    """Return the length, the content, and zeros up to a power of two.

    >>> [len(padded(bytes(n))) for n in (0, 1016, 1017, 5000)]
    [1024, 1024, 2048, 8192]
    """
    needed = _LENGTH_BYTES + len(content)
    size = max(_SMALLEST, 1 << (needed - 1).bit_length())
    return (len(content).to_bytes(_LENGTH_BYTES, "big") + content).ljust(size, b"\0")


def content_tag(key: bytes, content: bytes, *, size: int = 16) -> bytes:
    """Return a tag that tells equal contents from others, and nothing to who lacks the key."""
    return hashlib.blake2b(content, key=key, digest_size=size).digest()
