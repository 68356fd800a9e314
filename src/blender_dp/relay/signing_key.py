"""Signing key of the relay: a file in its directory, readable by its owner only."""

import os
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.core.errors import InputError
from blender_dp.wire.documents.staging import sync

_NAME = "relay.key"
_BYTES = 32


def signing_key(directory: Path) -> Ed25519PrivateKey:
    """Return the relay's key; made at the first start, and on disk when this returns."""
    path = directory / _NAME
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _write(path, os.urandom(_BYTES))
        content = path.read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read or made ({error.strerror})") from None
    if len(content) != _BYTES:
        raise InputError(path, f"must hold {_BYTES} bytes exactly")
    return Ed25519PrivateKey.from_private_bytes(content)


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{_NAME}.{os.urandom(8).hex()}")
    with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):  # another process made it first
        os.link(partial, path)
    partial.unlink()
    sync(path.parent)
