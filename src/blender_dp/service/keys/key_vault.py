"""Keys in files outside the database; a backup of the database cannot be read without them.

Each campaign has one key per purpose, made at its first use. A destroyed key leaves a marker and is
never made again: what was encrypted with it can never be read. Beside the keys is the digest of
each campaign's result from opt-in users. It remains when a database is restored.

If the directory is emptied or replaced while the service runs (its disk was unmounted), no new keys
are made in it: contributions would be lost, and the old keys would survive an erasure.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.wire.documents.staging import sync
from blender_dp.wire.tokens.blind_signer import draw_signing_key, read_signing_key

KEY_BYTES = 32
_SIGNING = "signing.key"


class Purpose(StrEnum):
    """Purpose of a campaign's key."""

    RECORDS = "records"
    """Encrypts contributions; destroyed once the list is published."""
    RECORD_TAGS = "record-tags"
    """Recognises a repeated contribution; destroyed with ``RECORDS``."""
    REPORT_TAGS = "report-tags"
    """Recognises a repeated report; destroyed once the reports are counted."""
    RELAYED_REPORTS = "relayed-reports"
    """Decrypts the reports of relay clients; destroyed once the release is made."""
    REPORT_TOKENS = "report-tokens"
    """Signs report tokens (RSA, DER); destroyed once no report is accepted any more."""


class KeyDestroyedError(BlenderError):
    """The key was destroyed."""

    def __init__(self, purpose: Purpose) -> None:
        self.purpose = purpose
        super().__init__(f"the campaign's key for {purpose} was destroyed; nothing can undo that")


class DrawnAlreadyError(BlenderError):
    """A campaign published, or was about to publish, another result than this one."""

    def __init__(self) -> None:
        super().__init__("the campaign's noise was drawn for other data or by other software")


class KeysGoneError(BlenderError):
    """The directory of keys is not the one that was opened."""

    def __init__(self) -> None:
        super().__init__(
            "the directory of keys must be the one that the service started with, with the same "
            "signing.key; put it back in its place"
        )


class KeyVault:
    """Directory of keys, readable by its owner only; must not be moved while it is used."""

    def __init__(self, directory: Path, *, draw: Callable[[int], bytes] = os.urandom) -> None:
        self.directory = directory
        self._draw = draw
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._opened = directory.stat()
        except OSError as error:
            raise InputError(directory, f"cannot be made ({error.strerror})") from None
        self._signing: bytes | None = None
        """Digest of the signing key, once that was read or made."""

    def require_in_place(self) -> None:
        """Fail if the directory, or the signing key in it, was removed or replaced."""
        try:
            is_same = os.path.samestat(self.directory.stat(), self._opened)
            if is_same and self._signing is not None:
                is_same = _digest((self.directory / _SIGNING).read_bytes()) == self._signing
        except OSError:  # unmounted, moved, or its disk does not answer
            is_same = False
        if not is_same:
            raise KeysGoneError

    def signing_key(self) -> Ed25519PrivateKey:
        """Return the service's key for signatures; made at the first use and never destroyed."""
        with self._in_place():
            key = self._read_or_draw(self.directory / _SIGNING)
            self._signing = self._signing or _digest(key)
        return Ed25519PrivateKey.from_private_bytes(key)

    def has_signing_key(self) -> bool:
        """Tell whether this directory was used before."""
        return (self.directory / _SIGNING).exists()

    def fingerprint(self) -> str:
        """Return the fingerprint of this directory: that of the public signing key."""
        return hashlib.sha256(self.signing_key().public_key().public_bytes_raw()).hexdigest()

    def key(self, campaign: UUID, purpose: Purpose) -> bytes:
        """Return a campaign's key, made at its first use, or fail if it was destroyed."""
        path = self._path(campaign, purpose)
        with self._in_place():
            self._require_alive(path, purpose)
            key = self._read_or_draw(path, is_rsa=purpose is Purpose.REPORT_TOKENS)
            if _marker(path).exists():  # destroyed while it was made
                _wipe(path)
                raise KeyDestroyedError(purpose)
        return key

    def record_draw(self, campaign: UUID, digest: bytes) -> None:
        """Record the result that a campaign will publish, or fail if another is recorded.

        The record is on disk when this returns, and stays when the campaign's keys are destroyed.

        Args:
            campaign: The campaign of the result.
            digest: SHA-256 of everything in the result that was computed with noise.
        """
        with self._in_place():
            if self._read_or_write(self.directory / f"{campaign}.draw", lambda: digest) != digest:
                raise DrawnAlreadyError

    def destroy(self, campaign: UUID, *purposes: Purpose) -> None:
        """Overwrite and remove a campaign's keys, by default all; they are never made again.

        The removal is on disk when this returns; repeating it changes nothing.
        """
        with self._in_place():
            for purpose in purposes or tuple(Purpose):
                path = self._path(campaign, purpose)
                os.close(os.open(_marker(path), os.O_CREAT | os.O_WRONLY, 0o600))
                self._sync()  # first the marker: from here on the key is never made again
                _wipe(path)
            self._sync()

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """Run a block that must happen in the directory that was opened, and in no other.

        Checked again at the end: if the directory was removed in between, the block has failed.
        """
        self.require_in_place()
        try:
            yield
        finally:
            self.require_in_place()

    def _path(self, campaign: UUID, purpose: Purpose) -> Path:
        return self.directory / f"{campaign}.{purpose}.key"

    def _require_alive(self, path: Path, purpose: Purpose) -> None:
        if _marker(path).exists():
            raise KeyDestroyedError(purpose)

    def _read_or_draw(self, path: Path, *, is_rsa: bool = False) -> bytes:
        """Return the key in a file; draw and write it if there is none."""
        if is_rsa:
            return self._read_or_write(path, draw_signing_key, length=None)
        return self._read_or_write(path, lambda: self._draw(KEY_BYTES))

    def _read_or_write(
        self, path: Path, content: Callable[[], bytes], *, length: int | None = KEY_BYTES
    ) -> bytes:
        """Return the content of a file, written if missing; concurrent callers get the same."""
        with suppress(FileNotFoundError):
            return _read_key(path, length)
        partial = path.with_name(f".{path.name}.{self._draw(8).hex()}")
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process wrote it first
            os.link(partial, path)
        if partial.stat().st_nlink == 1:  # not in use: leave no stray secret
            _wipe(partial)
        partial.unlink(missing_ok=True)
        self._sync()
        return _read_key(path, length)

    def _sync(self) -> None:
        sync(self.directory)


def relayed_reports_key(keys: KeyVault, campaign: UUID) -> X25519PrivateKey:
    """Return the key that decrypts a campaign's relayed reports, made at its first use."""
    return X25519PrivateKey.from_private_bytes(keys.key(campaign, Purpose.RELAYED_REPORTS))


def report_tokens_key(keys: KeyVault, campaign: UUID) -> RSAPrivateKey:
    """Return the key that signs a campaign's report tokens, made at its first use."""
    return read_signing_key(keys.key(campaign, Purpose.REPORT_TOKENS))


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


def _marker(path: Path) -> Path:
    return path.with_suffix(".destroyed")


def _read_key(path: Path, length: int | None) -> bytes:
    key = path.read_bytes()
    if length is not None and len(key) != length:
        raise InputError(path.name, f"must hold {length} bytes exactly")
    return key


def _wipe(path: Path) -> None:
    """Overwrite a file and remove it."""
    with suppress(FileNotFoundError):
        with path.open("r+b") as file:
            file.write(bytes(os.fstat(file.fileno()).st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink(missing_ok=True)
