"""Check of a service's public log before a device reports against a signed head list.

A list that is not in the log may have been made for this device only. The device
therefore fetches the log from the entry that it remembers of this service (from the beginning if it
remembers none), and checks that

- every piece is signed with the list's key and every entry follows from the one before;
- the remembered entry is still where it was, so that the log only ever grew;
- the entry that the list names is in the log, at the place that the list states.

This check does not detect a service that keeps two logs and always shows the same one to this
device: see ``docs/explanation/device-budget.md``.
"""

from collections.abc import Callable, Mapping
from typing import Any

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.wire.service.hash_chain import BrokenChainError, entry_hash, is_entry, require_chain
from blender_dp.wire.service.signatures import SignatureError
from blender_dp.wire.service.signed_log import read_log

MOST_ENTRIES = 10_000
"""Most entries of one piece."""
MOST_PIECES = 1_000
"""Most pieces of a log; a longer one is refused, as it would take hours to read."""
Entry = Mapping[str, Any]
Fetch = Callable[[int], Mapping[str, Any]]
"""Returns the piece of the log that begins at an index."""


class NotLoggedError(BlenderError):
    """A head list is not in the public log, or the log was rewritten."""


def require_logged(listed: Entry, public_key: str, remembered: Entry | None, fetch: Fetch) -> Entry:
    """Return the last entry of the log, to be remembered; refuse a list that is not in the log.

    Args:
        listed: The log entry in the signed list; its hash is already checked.
        public_key: The key that signed the list and must have signed the log.
        remembered: The last entry of this log that was seen earlier; None at first.
        fetch: Fetches a piece from the service.
    """
    wanted = {listed["index"]: listed["hash"]}
    start = 0
    if remembered is not None:
        wanted[remembered["index"]] = remembered["hash"]
        start = min(wanted)
        if len(wanted) == 1 and remembered["hash"] != listed["hash"]:
            raise NotLoggedError("the log has another entry at the place that the head list names")
    last: Entry | None = None
    for _ in range(MOST_PIECES):
        entries = _piece(fetch(start), start, public_key, last)
        if not entries:
            raise NotLoggedError(
                "the log ends before the entry of the head list, or became shorter"
            )
        for entry in entries:
            if wanted.pop(entry["index"], entry["hash"]) != entry["hash"]:
                raise NotLoggedError("the log has another entry than the head list or this device")
        last = entries[-1]
        if not wanted:
            return last
        start = last["index"] + 1
    raise NotLoggedError(f"the log must have at most {MOST_PIECES} pieces")


def _piece(
    document: Mapping[str, Any], start: int, public_key: str, last: Entry | None
) -> list[Entry]:
    """Return the entries of a piece that follows ``last``."""
    entries, signer = read_log(document, last)
    if signer != public_key:
        raise SignatureError("the log is signed with another key than the head list")
    if len(entries) > MOST_ENTRIES:
        raise InputError("the log", f"must come in pieces of at most {MOST_ENTRIES} entries")
    if last is None and start > 0 and entries:
        # The hash of the first entry fixes all entries before it.
        require_chain(entries[1:], after=_first(entries[0], start))
    else:
        require_chain(entries, after=last)
    return entries


def _first(entry: object, start: int) -> Entry:
    """Return the first entry of a piece from the middle of a log, checked by itself."""
    if not is_entry(entry) or entry["index"] != start or entry["hash"] != entry_hash(entry):
        raise BrokenChainError(f"entry {start} of the log is not a valid entry")
    return entry
