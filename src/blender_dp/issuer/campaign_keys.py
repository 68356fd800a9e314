"""Keys of the issuer: files in its directory, one per campaign, readable by their owner only.

``next.key`` is for the next campaign; it becomes ``ID.key`` when a campaign's signed list names it,
and another one is drawn. So no key is used in two campaigns. A file holds the key of the hashes of
people (32 bytes) and the signing key (DER). Both are destroyed when the campaign ends; what is left
in a backup of the database then says nothing about anybody.

``ID.issued`` has the number of people who were sent an answer. It is written after the database and
before the answer, so it is never ahead of a database that forgot nothing.
"""

import fcntl
import hashlib
import hmac
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from uuid import UUID

from blender_dp.core.errors import InputError
from blender_dp.wire.documents.staging import sync
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key
from blender_dp.wire.tokens.token_key import TokenKey

_HASH_KEY_BYTES = 32
_COUNT_BYTES = 8
_NEXT = "next.key"
_LOCK = "lock"


@dataclass(frozen=True)
class CampaignKey:
    """Signs tokens of one campaign and hashes its people."""

    content: bytes = field(repr=False)
    """What the file holds."""

    @cached_property
    def signer(self) -> BlindSigner:
        """Signs blinded messages."""
        return BlindSigner(read_signing_key(self.content[_HASH_KEY_BYTES:]))

    @cached_property
    def token_key(self) -> TokenKey:
        """The public half, as head lists name it."""
        return TokenKey(read_signing_key(self.content[_HASH_KEY_BYTES:]).public_key())

    def person(self, subject: str) -> bytes:
        """Return the keyed hash of a person, which says nothing without the key."""
        key = self.content[:_HASH_KEY_BYTES]
        return hmac.digest(key, subject.encode(errors="surrogatepass"), hashlib.sha256)


class CampaignKeys:
    """Directory of keys of one process; a second process is refused."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise InputError(directory, f"cannot be made ({error.strerror})") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise InputError(directory, "is in use by another issuer") from None
        self._counted: dict[UUID, int] = {}

    def close(self) -> None:
        """Let another process use the directory."""
        os.close(self._lock)

    def next_key(self) -> CampaignKey:
        """Return the key for the next campaign, drawn if there is none."""
        path = self._directory / _NEXT
        if not path.exists():
            self._write(path, os.urandom(_HASH_KEY_BYTES) + draw_signing_key())
        return CampaignKey(path.read_bytes())

    def key_of(self, campaign: UUID) -> CampaignKey | None:
        """Return the key of a campaign; None if none was bound to it, or if it was destroyed."""
        try:
            return CampaignKey(self._key(campaign).read_bytes())
        except FileNotFoundError:
            return None

    def bind_next(self, campaign: UUID) -> CampaignKey:
        """Make the next key that of a campaign, and draw another one; on disk when this returns."""
        self._write(self._count(campaign), bytes(_COUNT_BYTES))
        (self._directory / _NEXT).rename(self._key(campaign))
        sync(self._directory)
        self.next_key()
        return CampaignKey(self._key(campaign).read_bytes())

    def counted(self, campaign: UUID) -> int:
        """Return how many people of a campaign may have been sent an answer."""
        with suppress(FileNotFoundError):
            return int.from_bytes(self._count(campaign).read_bytes())
        return 0

    def count(self, campaign: UUID, issued: int) -> None:
        """Store that answers go to this many people; on disk when this returns."""
        if issued <= self._counted.get(campaign, -1):
            return
        issued = max(issued, self.counted(campaign))
        descriptor = os.open(self._count(campaign), os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            os.pwrite(descriptor, issued.to_bytes(_COUNT_BYTES), 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._counted[campaign] = issued

    def destroy(self, campaign: UUID) -> None:
        """Overwrite and remove the keys of a campaign; repeating it changes nothing."""
        with suppress(FileNotFoundError):
            with self._key(campaign).open("r+b") as file:
                file.write(bytes(os.fstat(file.fileno()).st_size))
                file.flush()
                os.fsync(file.fileno())
            self._key(campaign).unlink()
        self._count(campaign).unlink(missing_ok=True)
        sync(self._directory)

    def _key(self, campaign: UUID) -> Path:
        return self._directory / f"{campaign}.key"

    def _count(self, campaign: UUID) -> Path:
        return self._directory / f"{campaign}.issued"

    def _write(self, path: Path, content: bytes) -> None:
        partial = path.with_name(f".{path.name}.partial")
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
        sync(self._directory)
