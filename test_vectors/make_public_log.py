"""Writes public_log.json: logs that a device reads before it reports, and which it must refuse.

Made with nothing but hashes and the signature itself, with the keys of
``make_signed_head_list.py``: ``python test_vectors/make_public_log.py``.
"""

from typing import Any

from make_signed_head_list import CAMPAIGN, Document, key, letters, rehashed
from vector_file import write_vectors

LENGTH = 6
LISTED = 3
PAGE = 2
"""Entries of a piece; services send up to 10,000."""


def log(mark: str = "0", length: int = LENGTH) -> list[Document]:
    """Return entries that follow from each other; marks differ from the third entry on."""
    entries: list[Document] = []
    for index in range(length):
        digit = mark if index >= 2 else "0"
        entries.append(
            rehashed(
                {
                    "index": index,
                    "time": f"2026-11-15T12:00:0{index}Z",
                    "kind": "head-list" if index == LISTED else "campaign",
                    "campaign": CAMPAIGN,
                    "digest": "sha256:" + digit * 63 + str(index),
                    "previous": entries[-1]["hash"] if entries else None,
                }
            )
        )
    return entries


def signed(
    entries: list[Document], signer: str = "service", before: list[Document] | None = None
) -> Document:
    """Return a piece of a log as a service sends it; an empty one is signed at the log's end."""
    known = [*(before or []), *entries]
    head = known[-1]["hash"].encode() if known else b""
    message = b"blender-dp log head 1\0" + head
    return {
        "entries": entries,
        "public_key": letters(key(signer).public_key().public_bytes_raw()),
        "signature": letters(key(signer).sign(message)),
    }


def pieces(entries: list[Document], signer: str = "service", page: int = PAGE) -> Document:
    """Return what a service answers, by the first index that is asked for."""
    return {
        str(i): signed(entries[i : i + page], signer, entries[:i]) for i in range(len(entries) + 1)
    }


def case(
    name: str,
    answers: Document,
    *,
    remembered: Document | None = None,
    listed: Document | None = None,
    remembers: int | None = None,
) -> Document:
    """Return one case; ``remembers`` is the index kept if the list is taken, null if refused."""
    return {
        "name": name,
        "listed": listed or log()[LISTED],
        "remembered": remembered,
        "pieces": answers,
        "remembers": remembers,
    }


def cases() -> list[Document]:
    """Return all cases; the first ones are in order."""
    good, other = log(), log("1")
    edited = [*good[:2], {**good[2], "digest": other[2]["digest"]}, *good[3:]]
    refit = [*good[:2], rehashed({**good[2], "digest": other[2]["digest"]}), *good[3:]]
    early = rehashed({**good[3], "time": "2026-11-15T11:00:00Z"})
    strangers: dict[str, Any] = {**pieces(good), "2": signed(good[2:4], "stranger")}
    unsigned = {**pieces(good), "2": {**signed(good[2:4]), "signature": signed(good)["signature"]}}
    return [
        case("read from its beginning", pieces(good), remembers=3),
        case("in one piece", pieces(good, page=10), remembers=5),
        case("from an entry before the list", pieces(good), remembered=good[1], remembers=4),
        case("from the list's own entry", pieces(good), remembered=good[3], remembers=4),
        case("back from an entry after the list", pieces(good), remembered=good[5], remembers=5),
        case("grown by nothing", pieces(good[:4]), remembered=good[3], remembers=3),
        case("without the list's entry", pieces(good[:3])),
        case("empty", pieces([])),
        case("with another entry in its place", pieces(other)),
        case("with another entry in its place, seen before", pieces(other), remembered=other[3]),
        case("shorter than before", pieces(good[:4]), remembered=good[5]),
        case("rewritten since", pieces(good), remembered=other[2]),
        case("rewritten behind the list", pieces(good), remembered=other[5]),
        case("with an entry edited", pieces(edited)),
        case("with an entry edited and its hash made to fit", pieces(refit)),
        case("with an entry left out", pieces([*good[:2], *good[3:]])),
        case("from another beginning", {"0": signed(good[1:4])}),
        case("with an earlier time", pieces([*good[:3], early]), listed=early),
        case("signed by another key", pieces(good, "stranger")),
        case("with one piece signed by another key", strangers),
        case("with the signature of another piece", unsigned),
        case("that answers from another index", {"1": signed(good[2:4])}, remembered=good[1]),
        case("with a field too many", {"0": {**signed(good[:4]), "note": ""}}),
        case("without entries", {"0": {**signed([]), "entries": None}}),
    ]


def main() -> None:
    """Write the file."""
    public_key = letters(key("service").public_key().public_bytes_raw())
    write_vectors("public_log.json", {"public_key": public_key, "cases": cases()})


if __name__ == "__main__":
    main()
