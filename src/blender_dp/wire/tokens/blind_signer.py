"""Blind signer: the raw RSA operation of an issuer, in a time that tells nothing about its key.

Powers are computed by GMP in a constant time for numbers of one size (``mpz_powm_sec``). Python's
own ``pow`` takes a few per cent more or less from key to key, whatever is blinded. Every signature
also draws new randomness for the base and for both exponents, so that the numbers that are raised
to powers have nothing to do with what was asked for. All exponents have the same length, whatever
the key. The result is checked before it leaves: a fault of the machine in one half of the
computation would reveal the key.
"""

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)
from gmpy2 import invert, mpz, powmod_sec

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.wire.tokens.blind_rsa import BlindSignatureError, draw_factor
from blender_dp.wire.tokens.token_key import EXPONENT, KEY_BITS

_MASK_BITS = 64
"""Bits by which an exponent is longer than its prime; as many are random."""


class BlindSigner:
    """Signs blinded messages with one key; the same message gives the same signature."""

    def __init__(self, key: RSAPrivateKey) -> None:
        numbers = key.private_numbers()
        public = numbers.public_numbers
        self._n, self._e = mpz(public.n), mpz(public.e)
        self._p, self._q, self._q_inverse = mpz(numbers.p), mpz(numbers.q), mpz(numbers.iqmp)
        self._of_p, self._of_q = mpz(numbers.dmp1), mpz(numbers.dmq1)
        self._length = -(-key.key_size // 8)

    def sign(self, blinded: bytes) -> bytes:
        """Return the signature of a blinded message (RFC 9474 section 4.3).

        Raises:
            BlindSignatureError: The message is not a number below n in as many bytes as n has.
        """
        self.require_signable(blinded)
        mask = mpz(draw_factor(int(self._n)))
        masked = int.from_bytes(blinded) * powmod_sec(mask, self._e, self._n) % self._n
        signed = self._root(masked)
        if powmod_sec(signed, self._e, self._n) != masked:
            raise BrokenInvariantError("a signature verifies under its own key")
        return int(signed * invert(mask, self._n) % self._n).to_bytes(self._length)

    def require_signable(self, blinded: bytes) -> None:
        """Refuse what cannot be signed."""
        if len(blinded) != self._length or int.from_bytes(blinded) >= self._n:
            raise BlindSignatureError("a blinded message must be a number below the key's modulus")

    def _root(self, masked: mpz) -> mpz:
        """Return masked^d mod n, computed modulo both primes (RFC 8017 section 5.1.2)."""
        p, q = self._p, self._q
        of_p = powmod_sec(masked % p, _masked_exponent(self._of_p, p), p)
        of_q = powmod_sec(masked % q, _masked_exponent(self._of_q, q), q)
        return of_q + q * ((of_p - of_q) * self._q_inverse % p)


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


def _masked_exponent(exponent: mpz, prime: mpz) -> mpz:
    """Return an exponent with the same effect modulo a prime, drawn anew for every signature."""
    order = prime - 1
    least = int((mpz(1) << prime.bit_length() + _MASK_BITS) // order) + 1
    # least * order is above a power of two, and the largest exponent is below the next one.
    return exponent + (least - 1 + draw_factor(least - 1)) * order
