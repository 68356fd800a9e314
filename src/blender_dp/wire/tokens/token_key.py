"""Public key of an issuer of report tokens, as head lists write it (RFC 9578 section 6.5)."""

import hashlib
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers

from blender_dp.wire.reports.packed_items import from_text, to_text

KEY_BITS = 2048
EXPONENT = 65537
MODULUS_BYTES = KEY_BITS // 8
_BEFORE = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a"
    "301806092a864886f70d010108300b0609608648016503040202a2030201300382010f00"
    "3082010a0282010100"
)
"""DER of everything before the modulus: RSASSA-PSS with SHA-384, MGF1 with SHA-384 and a salt of 48
bytes."""
_AFTER = bytes.fromhex("0203010001")
KEY_BYTES = len(_BEFORE) + MODULUS_BYTES + len(_AFTER)
TOKEN_KEY_RULE = f"must be an RSA key of {KEY_BITS} bits for tokens, in base64url without padding"


@dataclass(frozen=True, slots=True)
class TokenKey:
    """Key that tokens of one campaign are signed with."""

    public: RSAPublicKey
    encoded: bytes = field(init=False)
    """DER (SubjectPublicKeyInfo)."""
    id: bytes = field(init=False)
    """SHA-256 of the DER, by which a token names its key."""

    def __post_init__(self) -> None:
        modulus = self.public.public_numbers().n.to_bytes(MODULUS_BYTES)
        object.__setattr__(self, "encoded", _BEFORE + modulus + _AFTER)
        object.__setattr__(self, "id", hashlib.sha256(self.encoded).digest())

    @property
    def text(self) -> str:
        """The key as documents write it."""
        return to_text(self.encoded)


def read_token_key(text: str) -> TokenKey | None:
    """Return the key that a text holds; None if it is none for tokens."""
    encoded = from_text(text, KEY_BYTES) if text.isascii() else None
    if encoded is None or not (encoded.startswith(_BEFORE) and encoded.endswith(_AFTER)):
        return None
    modulus = int.from_bytes(encoded[len(_BEFORE) : -len(_AFTER)])
    if modulus.bit_length() != KEY_BITS or modulus % 2 == 0:
        return None
    return TokenKey(RSAPublicNumbers(EXPONENT, modulus).public_key())
