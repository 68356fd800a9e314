"""Append-only log in which every entry contains the hash of the entry before it.

A reader who knows the last hash detects every change of earlier entries. The public log lists
published documents; the audit log also lists actions and their actors. The hash of an entry is the
SHA-256 of
all its other fields, ``digest`` included, as JSON with sorted keys and no white space.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeGuard
from uuid import UUID

from blender_dp.core.errors import BlenderError
from blender_dp.wire.documents.document import canonical, digest_of_bytes
from blender_dp.wire.documents.times import read_time, written_time

_FIELDS = frozenset({"index", "time", "kind", "campaign", "digest", "previous", "hash"})
_TIME_LETTERS = 20
"""Length of a time without milliseconds: texts of one length sort in the order of times."""
_HEX = frozenset("0123456789abcdef")


class PublicKind(StrEnum):
    """Kind of document in the public log."""

    CAMPAIGN = "campaign"
    HEAD_LIST = "head-list"
    RELAY_BATCH = "relay-batch"
    """A relay's statement about its batch."""
    RELEASE = "release"


class BrokenChainError(BlenderError):
    """A log was changed; the message names the entry and the error."""


def entry(
    previous: Mapping[str, Any] | None,
    *,
    kind: str,
    campaign: UUID | None,
    digest: str | None,
    time: datetime,
    actor: str | None = None,
) -> dict[str, Any]:
    """Return the entry that follows ``previous``.

    Args:
        previous: The last entry, None if the log is empty.
        kind: What happened.
        campaign: The campaign concerned.
        digest: Digest of the document; only the audit log has entries without one.
        time: The time. An entry is never earlier than the one before, even if a clock was set back.
        actor: Who did it; only in the audit log.
    """
    when = written_time(time)
    fields: dict[str, Any] = {
        "index": 0 if previous is None else previous["index"] + 1,
        "time": when if previous is None else max(when, previous["time"]),
        "kind": kind,
        "campaign": None if campaign is None else str(campaign),
        "digest": digest,
        "previous": None if previous is None else previous["hash"],
    }
    if actor is not None:
        fields["actor"] = actor
    return {**fields, "hash": entry_hash(fields)}


def entry_hash(fields: Mapping[str, Any]) -> str:
    """Return the hash of an entry: of every field but the hash itself."""
    return digest_of_bytes(canonical({k: v for k, v in fields.items() if k != "hash"}))


def require_chain(
    entries: Sequence[object], *, has_actors: bool = False, after: Mapping[str, Any] | None = None
) -> None:
    """Refuse a log that was changed; the message names the entry.

    Args:
        entries: The log, from its beginning or after an entry that was checked before.
        has_actors: Whether it is the audit log.
        after: The entry before the first of these, if they are not the log's beginning.
    """
    previous = after
    for place, found in enumerate(entries):
        here = f"entry {place if after is None else after['index'] + 1 + place}"
        if not is_entry(found, has_actors=has_actors):
            raise BrokenChainError(f"{here} of the log is not a valid entry")
        if wrong := _what_is_wrong(found, previous):
            raise BrokenChainError(f"{here} of the log {wrong}")
        previous = found


def _what_is_wrong(found: Mapping[str, Any], previous: Mapping[str, Any] | None) -> str | None:
    index = 0 if previous is None else previous["index"] + 1
    if found["index"] != index:
        return f"must have the index {index}: an entry is missing or out of its order"
    if found["previous"] != (None if previous is None else previous["hash"]):
        return "does not follow from the entry before it"
    if found["hash"] != entry_hash(found):
        return "was changed: its hash is not that of its fields"
    if previous is not None and found["time"] < previous["time"]:
        return "is earlier than the entry before it"
    return None


def is_entry(found: object, *, has_actors: bool = False) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether something has the fields of an entry, each of the right type."""
    names = _FIELDS | {"actor"} if has_actors else _FIELDS
    if not isinstance(found, Mapping) or set(found) != names:
        return False
    kind, index = found["kind"], found["index"]
    return (
        (type(index) is int and index >= 0)
        and (read_time(found["time"]) is not None and len(found["time"]) == _TIME_LETTERS)
        and (is_text(kind) if has_actors else kind in list(PublicKind))
        and (found["campaign"] is None or is_campaign_id(found["campaign"]))
        and (is_digest(found["digest"]) or (has_actors and found["digest"] is None))
        and (found["previous"] is None or is_digest(found["previous"]))
        and is_digest(found["hash"])
        and (not has_actors or is_text(found["actor"]))
    )


def is_text(value: object) -> bool:
    """Tell whether something is a text of whole characters."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def is_digest(value: object) -> bool:
    """Tell whether something is written as a digest."""
    if not isinstance(value, str) or not value.startswith("sha256:"):
        return False
    return len(value) == 71 and _HEX.issuperset(value[7:])


def is_campaign_id(value: object) -> bool:
    """Tell whether something is a campaign's id in canonical spelling."""
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False
