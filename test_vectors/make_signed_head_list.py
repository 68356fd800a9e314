"""Writes signed_head_list.json: a list as a service signs it, and what a client must refuse.

Made with nothing but hashes and the signature itself, so that it checks every implementation:
``python test_vectors/make_signed_head_list.py``. The key is that of this file only.
"""

import base64
import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from vector_file import write_vectors

CAMPAIGN = "00000000-0000-4000-8000-000000000001"
OTHER_CAMPAIGN = "00000000-0000-4000-8000-000000000002"
Document = dict[str, Any]


def canonical(value: object) -> bytes:
    """Write JSON with sorted keys and no white space."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def digest(document: Document, left_out: str) -> str:
    """Return the digest of every field but one."""
    fields = {name: value for name, value in document.items() if name != left_out}
    return "sha256:" + hashlib.sha256(canonical(fields)).hexdigest()


def letters(value: bytes) -> str:
    """Write bytes as base64url without padding."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def key(name: str) -> Ed25519PrivateKey:
    """Return a key that anybody can make."""
    seed = hashlib.sha256(f"blender-dp test vector {name}".encode()).digest()
    return Ed25519PrivateKey.from_private_bytes(seed)


def with_new_digest(head_list: Document) -> Document:
    """Return a list with the digest that fits it."""
    return {**head_list, "digest": digest(head_list, "digest")}


def rehashed(entry: Document) -> Document:
    """Return a log entry with the hash that fits it: over all its other fields, digest included."""
    return {**entry, "hash": digest(entry, "hash")}


def resigned(document: Document, signer: str = "service") -> Document:
    """Return a document signed as a service would, whatever it says."""
    signed = {
        "campaign": document["campaign"],
        "description": document["description"],
        "head_list": document["head_list"]["digest"],
        "log_entry": document["log_entry"]["hash"],
        **({"relay": document["relay"]} if "relay" in document else {}),
    }
    message = b"blender-dp signed head list 2\0" + canonical(signed)
    return {
        **document,
        "public_key": letters(key(signer).public_key().public_bytes_raw()),
        "signature": letters(key(signer).sign(message)),
    }


def description(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return what a campaign's service says of it, with some parameters changed."""
    return {
        "id": CAMPAIGN,
        "name": "Searches of autumn",
        "purpose": "Find what is popular, é★",
        "consent": {"version": "1", "text": "I hand over what I searched for, é★."},
        "parameters": {
            "epsilon": "4.0",
            "delta": "1e-05",
            "head_list_size": None,
            "preset": "sharp",
            "one_record_each": False,
            "head_list_user_fraction": "0.95",
            "query_budget_fraction": "0.85",
            "records_per_optin_user": 1,
            "records_per_client": 1,
            "project": True,
            **changed,
        },
        "expected_clients": 100000,
        "open_enrolment": True,
        "rules": {
            "opt_in_until": "2026-11-20T12:00:00.000000Z",
            "opt_in_enough": None,
            "clients_from": None,
            "clients_until": None,
            "clients_enough": 100000,
        },
        "created_at": "2026-11-14T12:00:00.000000Z",
    }


def published(
    head_list: Document,
    campaign: str = CAMPAIGN,
    described: Document | None = None,
    **added: Any,  # noqa: ANN401 - whatever JSON holds
) -> Document:
    """Return a list as a service publishes it."""
    entry = {
        "index": 7,
        "time": "2026-11-15T12:00:00Z",
        "kind": "head-list",
        "campaign": campaign,
        "digest": head_list["digest"],
        "previous": "sha256:" + "0" * 64,
    }
    return resigned(
        {
            "format": "blender-dp signed head list",
            "version": 2,
            "campaign": campaign,
            "description": digest(described or {**description(), "id": campaign}, ""),
            "head_list": head_list,
            "log_entry": rehashed(entry),
            **added,
        }
    )


def good_list() -> Document:
    """Return a list of forty queries."""
    return with_new_digest(
        {
            "format": "blender-dp head list",
            "version": 1,
            "private": True,
            "mechanism": {
                "name": "subset-selection",
                "version": 1,
                "epsilon": "4.0",
                "query_share": "0.25",
            },
            "queries": [
                {"query": f"query {number}", "urls": ["é.example"]} for number in range(10, 50)
            ],
        }
    )


def with_list(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return a well-signed list with some fields changed."""
    return published(with_new_digest({**good_list(), **changed}))


def with_mechanism(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return a well-signed list with another mechanism."""
    return with_list(mechanism={**good_list()["mechanism"], **changed})


def with_entry(**changed: Any) -> Document:  # noqa: ANN401 - whatever JSON holds
    """Return a well-signed list whose log entry was changed, and fits its hash."""
    document = published(good_list())
    return resigned({**document, "log_entry": rehashed({**document["log_entry"], **changed})})


def edited(edit: Callable[[Document], object]) -> Document:
    """Return the good list with something changed after it was signed."""
    document = copy.deepcopy(published(good_list()))
    edit(document)
    return document


def flipped(text: str) -> str:
    """Return base64url with another first letter."""
    return ("A" if text[0] != "A" else "B") + text[1:]


def broken() -> dict[str, Document]:
    """Return lists that no reader takes, by what is wrong with them."""
    queries = good_list()["queries"]
    good = published(good_list())
    return {
        "another signature": {**good, "signature": flipped(good["signature"])},
        "the signature of another key": {
            **good,
            "signature": resigned(good, "stranger")["signature"],
        },
        "no signature": edited(lambda d: d.pop("signature")),
        "a short signature": {**good, "signature": good["signature"][:-2]},
        "a padded signature": {**good, "signature": good["signature"] + "=="},
        "a field too many": {**good, "note": ""},
        "another format": {**good, "format": "blender-dp head list"},
        "another version": {**good, "version": 1},
        "another campaign than was signed": {**good, "campaign": OTHER_CAMPAIGN},
        "another description than was signed": {
            **good,
            "description": "sha256:" + "0" * 64,
        },
        "a description that is no digest": resigned({**good, "description": "4.0"}),
        "no description": edited(lambda d: d.pop("description")),
        "a query changed": edited(lambda d: d["head_list"]["queries"][0].update(query="query 0")),
        "a list of another digest": edited(
            lambda d: d["head_list"].update(digest="sha256:" + "0" * 64)
        ),
        "an entry of another hash": resigned(
            {**good, "log_entry": {**good["log_entry"], "hash": "sha256:" + "0" * 64}}
        ),
        "an entry whose hash was changed later": edited(
            lambda d: d["log_entry"].update(hash="sha256:" + "0" * 64)
        ),
        "a field that the digest does not cover": edited(lambda d: d["head_list"].update(note="")),
        "an entry about another list": with_entry(digest="sha256:" + "0" * 64),
        "an entry about another campaign": with_entry(campaign=OTHER_CAMPAIGN),
        "an entry with a field too many": with_entry(note=""),
        "an entry without a whole index": with_entry(index="7"),
        "an entry after none": with_entry(previous="sha256:0"),
        "an entry at no time": with_entry(time="noon"),
        "a campaign that is no id": published(good_list(), "campaign 1"),
        "an entry of another kind": with_entry(kind="release"),
        "an unknown mechanism": with_mechanism(name="sharp"),
        "an unknown mechanism version": with_mechanism(version=2),
        "ε of zero": with_mechanism(epsilon="0.0"),
        "ε in another spelling": with_mechanism(epsilon="4"),
        "a mechanism's field too many": with_mechanism(delta="1e-05"),
        "queries out of order": with_list(queries=queries[::-1]),
        "a query twice": with_list(queries=[queries[0], *queries]),
        "a query without URLs": with_list(queries=[{"query": "a", "urls": []}, *queries]),
        "a list's field too many": with_list(note=""),
    }


def refused_by_policy() -> dict[str, Document]:
    """Return lists that are in order, and that no client of ``campaign`` must report against."""
    return {
        "another campaign": published(good_list(), OTHER_CAMPAIGN),
        "not private": with_list(private=False),
        "too few queries": with_list(queries=good_list()["queries"][:31]),
        "too large an ε": with_mechanism(epsilon="8.000000000000002"),
    }


def refused_by_description() -> dict[str, Document]:
    """Return well-signed lists and a description that does not permit to report against them."""
    good = published(good_list())
    paper = {
        "name": "local-alg",
        "version": 1,
        "epsilon": "4.0",
        "delta": "1e-05",
        "query_budget_fraction": "0.85",
        "records_per_client": 1,
    }

    def promised(head_list: Document, **parameters: object) -> Document:
        described = description(**parameters)
        return {
            "signed": published(head_list, described=described),
            "description": described,
        }

    other = {**description(), "id": OTHER_CAMPAIGN}
    consent = {"version": "1", "text": "I agree to anything."}
    return {
        "another purpose": {"signed": good, "description": {**description(), "purpose": "Sell"}},
        "another consent": {"signed": good, "description": {**description(), "consent": consent}},
        "another name": {"signed": good, "description": {**description(), "name": None}},
        "a description of another campaign": {
            "signed": published(good_list(), described=other),
            "description": other,
        },
        "a smaller ε was promised": promised(good_list(), epsilon="3.9999999999999996"),
        "a smaller δ was promised": promised(
            with_new_digest({**good_list(), "mechanism": paper}), delta="9.999999999999999e-06"
        ),
        "an ε that is no number": promised(good_list(), epsilon="much"),
        "an ε that is no text": promised(good_list(), epsilon=4),
    }


def main() -> None:
    """Write the file."""
    good = published(good_list())
    vectors = {
        "campaign": CAMPAIGN,
        "good": good,
        "description": description(),
        "signed_by_another_key": resigned(good, "stranger"),
        "broken": broken(),
        "refused_by_policy": refused_by_policy(),
        "refused_by_description": refused_by_description(),
    }
    write_vectors("signed_head_list.json", vectors)


if __name__ == "__main__":
    main()
