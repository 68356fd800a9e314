"""Blind signer: the raw RSA operation of an issuer, in a time that tells nothing about its key.

Every signature draws new randomness for the base and for both exponents, so that the numbers that
are raised to powers have nothing to do with what was asked for, and the time of one signature tells
nothing about the next. The result is checked before it leaves: a fault of the machine in one half
of the computation would reveal the key.
"""

import os

from cryptography.hazmat.primitives.asymmetric.rsa import (
    RSAPrivateKey,
    RSAPrivateNumbers,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.wire.tokens.blind_rsa import BlindSignatureError, draw_factor

KEY_BITS = 2048
EXPONENT = 65537
_MASK_BYTES = 8
"""Size of the multiple of p - 1 that is added to an exponent."""


class BlindSigner:
    """Signs blinded messages with one key; the same message gives the same signature."""

    def __init__(self, key: RSAPrivateKey) -> None:
        self._numbers: RSAPrivateNumbers = key.private_numbers()
        self._length = -(-key.key_size // 8)

    def sign(self, blinded: bytes) -> bytes:
        """Return the signature of a blinded message (RFC 9474 section 4.3).

        Raises:
            BlindSignatureError: The message is not a number below n in as many bytes as n has.
        """
        self.require_signable(blinded)
        public, message = self._numbers.public_numbers, int.from_bytes(blinded)
        mask = draw_factor(public.n)
        masked = message * pow(mask, public.e, public.n) % public.n
        signed = self._root(masked)
        if pow(signed, public.e, public.n) != masked:
            raise BrokenInvariantError("a signature verifies under its own key")
        return (signed * pow(mask, -1, public.n) % public.n).to_bytes(self._length)

    def require_signable(self, blinded: bytes) -> None:
        """Refuse what cannot be signed."""
        if (
            len(blinded) != self._length
            or int.from_bytes(blinded) >= self._numbers.public_numbers.n
        ):
            raise BlindSignatureError("a blinded message must be a number below the key's modulus")

    def _root(self, masked: int) -> int:
        """Return masked^d mod n, computed modulo both primes (RFC 8017 section 5.1.2)."""
        numbers = self._numbers
        p, q = numbers.p, numbers.q
        of_p = pow(masked % p, _masked_exponent(numbers.dmp1, p), p)
        of_q = pow(masked % q, _masked_exponent(numbers.dmq1, q), q)
        return of_q + q * ((of_p - of_q) * numbers.iqmp % p)


def draw_signing_key() -> bytes:
    """Draw a key of the size that tokens need; return it as DER (PKCS #8)."""
    key = generate_private_key(public_exponent=EXPONENT, key_size=KEY_BITS)
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def read_signing_key(encoded: bytes) -> RSAPrivateKey:
    """Return the key that :func:`draw_signing_key` wrote."""
    key = load_der_private_key(encoded, password=None)
    if not isinstance(key, RSAPrivateKey) or key.key_size != KEY_BITS:
        raise BrokenInvariantError(f"a key for tokens is an RSA key of {KEY_BITS} bits")
    return key


def _masked_exponent(exponent: int, prime: int) -> int:
    """Return an exponent with the same effect modulo a prime, drawn anew for every signature."""
    multiple = int.from_bytes(os.urandom(_MASK_BYTES)) | 1 << 8 * _MASK_BYTES - 1
    return exponent + multiple * (prime - 1)
