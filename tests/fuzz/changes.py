"""Small changes to documents: of a value or a field, with the digest mended so that readers go on.

Bytes alone are turned over by the fuzzer itself; almost none of those are JSON any more. These are.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fuzz.seeds import KEY

from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.service.hash_chain import entry_hash
from blender_dp.wire.service.signed_log import log_document

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**30, 1e308, -0.0),
    *(0.5, 1e-320, "", " ", "0", "-1", "1e999", "1e-400", "NaN", "inf", "1/3", "1_0", "٣", "0x1"),
    *("\x00", "\ud83d\ude00", "\ud800", "é", "e\u0301", "﷽", "a" * 300, "AAAAAAAAAAAAAAAAAAAAAA"),
    *("sha256:" + 64 * "0", "2026-11-16T10:00:00Z", "9999-12-31T23:59:59Z", [], {}, [[]], [None]),
    *({"": 0}, [0] * 50, "record", "query", "other", "subset-selection/1", "local-alg/1"),
)
_MOST_BYTES = 1 << 15


def changed(content: bytes, coins: random.Random, turn: Callable[[bytes], bytes]) -> bytes:
    """Return a document a little changed, or whatever ``turn`` makes of its bytes."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return turn(content)
    if not isinstance(document, dict | list) or coins.random() < 0.25:
        return turn(content)
    for _ in range(coins.choice((1, 1, 1, 2, 4))):
        _change_one(document, coins)
    if coins.random() < 0.8:
        document = _mended(document)
    try:
        return json.dumps(document, ensure_ascii=coins.random() < 0.5).encode()[:_MOST_BYTES]
    except (UnicodeEncodeError, ValueError, TypeError):
        return turn(content)


def turned(content: bytes, coins: random.Random) -> bytes:
    """Return bytes with a few of them changed, where no fuzzer does that better."""
    made = bytearray(content)
    for _ in range(coins.choice((1, 1, 2, 8))):
        place = coins.randrange(len(made) + 1)
        match coins.randrange(4):
            case 0 if place < len(made):
                made[place] = coins.randrange(256)
            case 1:
                made[place : place + coins.randrange(1, 9)] = b""
            case 2:
                made[place:place] = coins.randbytes(coins.randrange(1, 5))
            case _:
                made[place:place] = made[: coins.randrange(1, 65)]
    return bytes(made[:_MOST_BYTES])


def _change_one(document: Any, coins: random.Random) -> None:
    places = list(_places(document))
    if not places:
        return
    inside, key = coins.choice(places)
    match coins.randrange(6):
        case 0:
            del inside[key]
        case 1:
            _, other = coins.choice(places)
            if isinstance(inside, dict):
                inside[str(other)] = inside.pop(key)
            else:
                inside.insert(coins.randrange(len(inside) + 1), inside[key])
        case 2:
            elsewhere, other = coins.choice(places)
            inside[key] = copy.deepcopy(elsewhere[other])
        case 3 if isinstance(inside[key], int) and not isinstance(inside[key], bool):
            inside[key] += coins.choice((-1, 1, 2**32, -(2**32)))
        case 4 if isinstance(inside[key], str):
            inside[key] = turned(inside[key].encode("utf-8", "replace"), coins).decode(
                "utf-8", "replace"
            )
        case _:
            inside[key] = copy.deepcopy(coins.choice(ODD_VALUES))


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every value of a document by what it stands in and its name or number there."""
    waiting = [document]
    while waiting:
        inside = waiting.pop()
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        for key in keys:
            yield inside, key
            if isinstance(inside[key], dict | list):
                waiting.append(inside[key])


def _mended(document: Any) -> Any:
    """Make digest, hashes and signature those of the changed document again."""
    if not isinstance(document, dict):
        return document
    try:
        if isinstance(document.get("entries"), list):
            return _mended_log(document["entries"], KEY) | {
                name: value
                for name, value in document.items()
                if name not in ("entries", "public_key", "signature")
            }
        if "digest" in document:
            document["digest"] = digest_of(document)
    except (TypeError, ValueError, AttributeError):
        return document
    return document


def _mended_log(entries: list[Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    previous = None
    for entry in entries:
        if isinstance(entry, dict):
            entry["previous"] = previous
            previous = entry["hash"] = entry_hash(entry)
    return log_document(entries, key)
