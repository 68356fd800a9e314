"""Piece of the public log or the audit log, signed by the service at its last entry."""

from collections.abc import Mapping, Sequence
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.core.errors import InputError
from blender_dp.wire.service.signatures import require_signature, signature_fields

_DOMAIN = b"blender-dp log head 1\0"
_WHAT = "the log"


def log_document(
    entries: Sequence[Mapping[str, Any]],
    key: Ed25519PrivateKey,
    after: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return entries with a signature over the last hash, which covers all entries before.

    Args:
        entries: A piece of the log.
        key: The signing key.
        after: The entry before the first of these. If there are no entries, it is the last one,
            and its hash is signed: a signed empty log exists only while the log is empty.
    """
    return {
        "entries": [dict(entry) for entry in entries],
        **signature_fields(key, _message(entries, after)),
    }


def read_log(
    document: Mapping[str, Any], after: Mapping[str, Any] | None = None
) -> tuple[list[Any], str]:
    """Return the entries of a piece of a log and the key that signed it.

    The entries are not checked further. ``after`` is the entry before the piece, if there is one.
    """
    entries = document.get("entries")
    if not isinstance(entries, list) or set(document) != {"entries", "public_key", "signature"}:
        raise InputError(_WHAT, "must have the fields entries, public_key and signature")
    return entries, require_signature(_WHAT, document, _message(entries, after))


def _message(entries: Sequence[Any], after: Mapping[str, Any] | None) -> bytes:
    last = entries[-1] if entries else after
    head = last.get("hash") if isinstance(last, Mapping) else None
    return _DOMAIN + (head.encode("ascii", "replace") if isinstance(head, str) else b"")
