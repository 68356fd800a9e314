"""Blind RSA signatures: the half of the one who wants a signature (RFC 9474, SHA-384 and PSS).

A message is encoded (EMSA-PSS), multiplied by a random r^e and sent; the answer is divided by r.
The signer sees a uniformly random number, whatever the message. The signature is plain RSA-PSS.
"""

import hashlib
import os
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from blender_dp.core.errors import BlenderError

SALT_BYTES = 48
_HASH_BYTES = 48
_SHA384 = hashes.SHA384()


class BlindSignatureError(BlenderError):
    """A signature cannot be asked for, or is not the one that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blinding:
    """What a message is hidden with; drawn once and kept until the signature is there."""

    salt: bytes = field(repr=False)
    """Random bytes of the encoding."""
    factor: int = field(repr=False)
    """r, uniform from 1 to n - 1."""


def draw_factor(n: int) -> int:
    """Draw a number from 1 to n - 1; its law is within 2^-128 of the uniform one.

    It has no inverse only if it is a multiple of a prime factor of n, which nobody meets.
    """
    length = -(-n.bit_length() // 8) + 16
    return int.from_bytes(os.urandom(length)) % (n - 1) + 1


def blind(message: bytes, key: RSAPublicKey, blinding: Blinding) -> bytes:
    """Return the blinded message that the signer signs (RFC 9474 section 4.2).

    Raises:
        BlindSignatureError: The message or the factor has no inverse. That is met only with a key
            of small prime factors, under which the signer could tell messages apart.
    """
    public = key.public_numbers()
    _inverse(blinding.factor, public.n)
    encoded = _encode(message, key.key_size - 1, blinding.salt)
    _inverse(encoded, public.n)
    blinded = encoded * pow(blinding.factor, public.e, public.n) % public.n
    return blinded.to_bytes(_bytes_of(key))


def unblind(message: bytes, key: RSAPublicKey, blinding: Blinding, answer: bytes) -> bytes:
    """Return the signature of a message, checked under the key (RFC 9474 section 4.4).

    Raises:
        BlindSignatureError: The answer is no signature of the blinded message under this key.
    """
    n = key.public_numbers().n
    signature = (int.from_bytes(answer) * _inverse(blinding.factor, n) % n).to_bytes(_bytes_of(key))
    is_whole = len(answer) == _bytes_of(key) and int.from_bytes(answer) < n
    if not is_whole or not is_signed(message, key, signature, len(blinding.salt)):
        raise BlindSignatureError("the issuer's answer is not signed with its published key")
    return signature


def is_signed(
    message: bytes, key: RSAPublicKey, signature: bytes, salt_bytes: int = SALT_BYTES
) -> bool:
    """Tell whether a signature is valid (RSASSA-PSS of RFC 8017)."""
    try:
        key.verify(signature, message, _padding(salt_bytes), _SHA384)
    except InvalidSignature:
        return False
    return True


_PADDING = PSS(MGF1(_SHA384), SALT_BYTES)


def _padding(salt_bytes: int) -> PSS:
    return _PADDING if salt_bytes == SALT_BYTES else PSS(MGF1(_SHA384), salt_bytes)


def _encode(message: bytes, bits: int, salt: bytes) -> int:
    """Return EMSA-PSS of a message (RFC 8017 section 9.1.1) as a number of at most ``bits`` bits.

    Args:
        message: The message itself, not its hash.
        bits: One bit less than the modulus has.
        salt: The random salt.
    """
    length = -(-bits // 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    mask_bytes = length - _HASH_BYTES - 1
    block = bytes(mask_bytes - len(salt) - 1) + b"\1" + salt
    masked = int.from_bytes(block) ^ int.from_bytes(_mask(digest, mask_bytes))
    masked &= (1 << bits - 8 * (_HASH_BYTES + 1)) - 1
    return int.from_bytes(masked.to_bytes(mask_bytes) + digest + b"\xbc")


def _mask(seed: bytes, length: int) -> bytes:
    """Return the mask of MGF1 with SHA-384."""
    blocks = range(-(-length // _HASH_BYTES))
    made = b"".join(hashlib.sha384(seed + block.to_bytes(4)).digest() for block in blocks)
    return made[:length]


def _inverse(number: int, n: int) -> int:
    try:
        return pow(number, -1, n)
    except ValueError:
        raise BlindSignatureError(
            "the issuer's key has small factors, so nothing is hidden"
        ) from None


def _bytes_of(key: RSAPublicKey) -> int:
    return -(-key.key_size // 8)
