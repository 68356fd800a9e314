"""Check of a service's whole log: every hash and signature, with one key."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from blender_dp.client.transport import Transport
from blender_dp.core.errors import BlenderError, BrokenInvariantError
from blender_dp.wire.documents.document import canonical, digest_of, digest_of_bytes
from blender_dp.wire.service.hash_chain import PublicKind, require_chain
from blender_dp.wire.service.signatures import SignatureError
from blender_dp.wire.service.signed_head_list import FORMAT as SIGNED_HEAD_LIST
from blender_dp.wire.service.signed_log import read_log


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedLog:
    """A log whose hashes and signature are correct."""

    entries: Sequence[Mapping[str, Any]]
    public_key: str

    def require(
        self,
        digests: Sequence[str],
        what: str,
        *,
        campaign: UUID | None = None,
        kind: PublicKind | None = None,
    ) -> Mapping[str, Any]:
        """Return the first entry that names one of these digests, or refuse.

        Args:
            digests: Digests of the document; two campaigns may share one if their lists are equal.
            what: The document's name, for the refusal.
            campaign: The campaign of the entry; None for any.
            kind: The kind of the entry; None for any.
        """
        for entry in self.entries:
            is_wanted = campaign is None or entry["campaign"] == str(campaign)
            if is_wanted and (kind is None or entry["kind"] == kind) and entry["digest"] in digests:
                return entry
        raise BlenderError(f"{what} is not in the log")


def check_log(
    pieces: Iterable[Mapping[str, Any]], *, has_actors: bool = False, key: str | None = None
) -> CheckedLog:
    """Check a log, given in pieces from its beginning.

    Args:
        pieces: Pieces of the log, each signed at its last entry.
        has_actors: Whether it is the audit log.
        key: The key that must have signed it; None accepts the key that it names.
    """
    entries: list[Mapping[str, Any]] = []
    for piece in pieces:
        last = entries[-1] if entries else None
        some, signer = read_log(piece, last)
        if key is not None and signer != key:
            raise SignatureError("the log is signed with another key")
        require_chain(some, has_actors=has_actors, after=last)
        entries += some
        key = signer
    if key is None:
        raise BrokenInvariantError("a log has one piece at least")
    return CheckedLog(entries=entries, public_key=key)


def fetch_pieces(
    transport: Transport, path: str, token: str | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield the pieces of a log that a service returns at ``log`` or ``audit-log``."""
    start = 0
    while True:
        piece = transport.send("GET", f"{path}?from={start}", token=token).document("the log")
        yield piece
        if not piece["entries"]:
            return
        start += len(piece["entries"])


def digests_in_log(document: Mapping[str, Any]) -> list[str]:
    """Return the digests by which a log may name a document: its own one, or that of its bytes."""
    if document.get("format") == SIGNED_HEAD_LIST and isinstance(document.get("head_list"), dict):
        document = document["head_list"]
    return [digest_of(document), digest_of_bytes(canonical(document))]
