"""Writes signed_documents.json: logs, signed head lists and reports that all clients judge alike.

Run it only when a format gets a new version: ``python test_vectors/make_signed_documents.py``.
"""

import copy
import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from vector_file import write_vectors

from blender_dp.core.channels.report import Report
from blender_dp.core.channels.subset_selection import SubsetChannels, SubsetSelectionMechanism
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.service_report import question_of, service_report_document
from blender_dp.wire.service.hash_chain import entry, entry_hash
from blender_dp.wire.service.signatures import public_key_of
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from blender_dp.wire.service.signed_log import log_document

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
CAMPAIGN = UUID("00000000-0000-4000-8000-000000000001")
OTHER_CAMPAIGN = UUID("00000000-0000-4000-8000-000000000002")
START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
HEAD_LIST = HeadList.of(
    [Record(f"query {q:02}", f"{u}.example/é★") for q in range(40) for u in range(1 + q % 2)],
    mechanism=SubsetSelectionMechanism(epsilon=2.0, query_share=0.25),
    private=True,
)
DESCRIPTION = "sha256:" + "0" * 64
Document = dict[str, Any]


def chain(*, actor: str | None = None) -> list[Document]:
    """Return a log in which one clock was set back by an hour."""
    listed = head_list_document(HEAD_LIST)["digest"]
    hours = (0, 1, 0, 3)
    happened = [
        ("campaign", CAMPAIGN, DESCRIPTION),
        ("head-list", CAMPAIGN, listed),
        ("campaign", OTHER_CAMPAIGN, "sha256:" + "1" * 64),
        ("release", CAMPAIGN, "sha256:" + "2" * 64),
    ]
    entries: list[Document] = []
    for hour, (kind, campaign, digest) in zip(hours, happened, strict=True):
        entries.append(
            entry(
                entries[-1] if entries else None,
                kind=kind,
                campaign=campaign,
                digest=digest,
                time=START + timedelta(hours=hour),
                actor=actor,
            )
        )
    return entries


def rehashed(changed: Document) -> Document:
    """Return an entry whose own hash fits."""
    return {**changed, "hash": entry_hash(changed)}


def chains() -> list[Document]:
    """Return logs, good and broken, with the place of the first entry that must be refused."""
    good, audit = chain(), chain(actor="operator é")
    edited, hidden = copy.deepcopy(good), copy.deepcopy(good)
    edited[2]["digest"] = "sha256:" + "f" * 64
    hidden[2] = rehashed({**hidden[2], "digest": "sha256:" + "f" * 64})
    early = rehashed({**good[3], "time": "2026-11-15T11:00:00Z"})
    with_more = rehashed({**good[3], "note": "x"})
    cases = {
        "whole": (good, False, None),
        "empty": ([], False, None),
        "audit": (audit, True, None),
        "an entry was edited": (edited, False, 2),
        "an entry was edited and its hash made to fit": (hidden, False, 3),
        "an entry is missing": (good[:1] + good[2:], False, 1),
        "the beginning is missing": (good[1:], False, 0),
        "two entries are swapped": ([good[0], good[2], good[1], good[3]], False, 1),
        "an entry is earlier than the one before": ([*good[:3], early], False, 3),
        "an entry has another field": ([*good[:3], with_more], False, 3),
        "an actor is missing": (good, True, 0),
    }
    return [
        {"name": name, "entries": entries, "has_actors": has_actors, "broken_at": broken_at}
        for name, (entries, has_actors, broken_at) in cases.items()
    ]


def signed_lists() -> list[Document]:
    """Return signed head lists, good and broken."""
    log, listed = chain(), head_list_document(HEAD_LIST)
    good = signed_head_list_document(
        listed, log[1], campaign=CAMPAIGN, description=DESCRIPTION, key=KEY
    )
    other = signed_head_list_document(
        listed, log[1], campaign=CAMPAIGN, description=DESCRIPTION, key=OTHER_KEY
    )
    unsigned = {name: value for name, value in good.items() if name != "signature"}
    edited = copy.deepcopy(good)
    edited["head_list"]["queries"][0]["urls"] = ["evil.example"]
    misnamed = rehashed({**log[1], "digest": "sha256:" + "e" * 64})
    return [
        {"name": name, "is_good": name == "good", "document": document}
        for name, document in {
            "good": good,
            "no signature": unsigned,
            "the signature of another key": {**good, "signature": other["signature"]},
            "the key of another signature": {**good, "public_key": other["public_key"]},
            "a padded signature": {**good, "signature": good["signature"] + "=="},
            "another campaign": {**good, "campaign": str(OTHER_CAMPAIGN)},
            "an edited list": edited,
            "an edited log entry": {**good, "log_entry": {**log[1], "index": 7}},
            "the log entry of another kind": signed_head_list_document(
                listed, log[0], campaign=CAMPAIGN, description=DESCRIPTION, key=KEY
            ),
            "the log entry of another campaign": signed_head_list_document(
                listed, log[1], campaign=OTHER_CAMPAIGN, description=DESCRIPTION, key=KEY
            ),
            "the log entry of another list": signed_head_list_document(
                listed, misnamed, campaign=CAMPAIGN, description=DESCRIPTION, key=KEY
            ),
            "one more field": {**good, "extra": 1},
            "another description": {**good, "description": "sha256:" + "1" * 64},
            "another version": {**good, "version": 1},
        }.items()
    ]


def reports() -> list[Document]:
    """Return reports with ids, whose question the id decides."""
    channels = SubsetChannels.of(HEAD_LIST.cells, HEAD_LIST.mechanism)
    made = []
    for number in range(8):
        report_id = hashlib.sha256(f"report {number}".encode()).digest()[:16]
        question = question_of(report_id, HEAD_LIST)
        items = tuple(range(number, number + channels.asking(question).subset_size))
        document = service_report_document(
            HEAD_LIST, report_id, Report(question=question, items=items)
        )
        made.append({"report_id": report_id.hex(), "items": list(items), "document": document})
    return made


def main() -> None:
    """Write the file."""
    vectors = {
        "private_key": to_text(bytes(range(32))),
        "public_key": public_key_of(KEY),
        "chains": chains(),
        "signed_head_lists": signed_lists(),
        "log": log_document(chain(), KEY),
        "reports": reports(),
    }
    write_vectors("signed_documents.json", vectors)


if __name__ == "__main__":
    main()
