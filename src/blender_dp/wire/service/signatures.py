"""Ed25519 signatures of a service's documents, and the text form of keys and signatures."""

from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.wire.reports.packed_items import from_text, to_text

KEY_BYTES = 32
SIGNATURE_BYTES = 64


class SignatureError(BlenderError):
    """A document is not signed by the expected key."""


def public_key_of(key: Ed25519PrivateKey) -> str:
    """Return a key's public half as text, as documents write it."""
    return to_text(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def signature_fields(key: Ed25519PrivateKey, message: bytes) -> dict[str, str]:
    """Return the two fields that sign a document: public key and signature."""
    return {"public_key": public_key_of(key), "signature": to_text(key.sign(message))}


def require_signature(what: str, document: Mapping[str, Any], message: bytes) -> str:
    """Return the public key that signed ``message``, as the document names it, or refuse it.

    Args:
        what: Name of the document for the refusal, such as "the head list".
        document: It has the fields ``public_key`` and ``signature``.
        message: The bytes that must have been signed.
    """
    signer = _bytes_of(what, document, "public_key", KEY_BYTES)
    signature = _bytes_of(what, document, "signature", SIGNATURE_BYTES)
    try:
        Ed25519PublicKey.from_public_bytes(signer).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise SignatureError(f"{what} has a signature that is not that of its key") from None
    return to_text(signer)


def require_key(text: str) -> str:
    """Return a public key that a user passed, or refuse it."""
    if from_text(text, KEY_BYTES) is None:
        raise ParameterError("key", f"{KEY_BYTES} bytes in base64url without padding", text)
    return text


def _bytes_of(what: str, document: Mapping[str, Any], name: str, length: int) -> bytes:
    text = document.get(name)
    if text is None:
        raise SignatureError(f"{what} is not signed")
    content = from_text(text, length) if isinstance(text, str) else None
    if content is None:
        raise SignatureError(f"{what} has a {name} that is not {length} bytes in base64url")
    return content
