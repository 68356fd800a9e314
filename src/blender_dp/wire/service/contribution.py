"""Upload of an opt-in user: the receipt of a consent, and raw records; version 1."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from blender_dp.core.errors import InputError
from blender_dp.core.head_list.head_list import Record
from blender_dp.wire.documents.document import canonical, digest_of_bytes
from blender_dp.wire.documents.times import read_time, written_time
from blender_dp.wire.service.hash_chain import is_digest, is_text

VERSION = 1
MOST_RECORDS = 10_000
MOST_QUERY_BYTES = 2_048
MOST_URL_BYTES = 8_192
MOST_BYTES = 1 << 22
"""Size limit of the whole upload."""
MOST_VERSION_LETTERS = 100
_SOURCE = "the contribution"
_HOST_AND_PORT = r"[a-z0-9-]+(?:\.[a-z0-9-]+)+:[0-9]+(?:[/?#]|$)"
_OTHER_SCHEME = re.compile(
    rf"[\x00-\x20]*(?!https?:)(?!{_HOST_AND_PORT})[a-z][a-z0-9+.\-\t\r\n]*:", re.IGNORECASE
)
"""Beginning of an address whose scheme is not http or https. As browsers do, it skips white space
before the address and line breaks in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentReceipt:
    """Consent text that the person agreed to, and the time."""

    version: str
    text_digest: str
    given_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """One opt-in user's records; may be empty."""

    consent: ConsentReceipt
    records: Sequence[Record]


def consent_digest(text: str) -> str:
    """Return the digest by which a receipt names the text of a consent."""
    return digest_of_bytes(text.encode())


def contribution_document(contribution: Contribution) -> dict[str, Any]:
    """Return the upload as a document."""
    consent = contribution.consent
    return {
        "version": VERSION,
        "consent": {
            "version": consent.version,
            "text_digest": consent.text_digest,
            "given_at": written_time(consent.given_at),
        },
        "records": [{"query": query, "url": url} for query, url in contribution.records],
    }


def contribution_bytes(contribution: Contribution) -> bytes:
    """Return the upload as bytes; refuse an upload that a service would refuse."""
    document = contribution_document(contribution)
    read_contribution(document)
    content = canonical(document)
    if len(content) > MOST_BYTES:
        raise InputError(_SOURCE, f"must be at most {MOST_BYTES >> 20} MiB of JSON")
    return content


def read_contribution(document: Mapping[str, Any]) -> Contribution:
    """Read an upload; refuse one that breaks a rule, without quoting its content."""
    if set(document) != {"version", "consent", "records"}:
        _refuse("must have the fields version, consent and records, and no others")
    if type(document["version"]) is not int or document["version"] != VERSION:
        _refuse(f"version must be {VERSION}")
    return Contribution(
        consent=_read_consent(document["consent"]), records=_read_records(document["records"])
    )


def _read_consent(consent: object) -> ConsentReceipt:
    names = {"version", "text_digest", "given_at"}
    if not isinstance(consent, Mapping) or set(consent) != names:
        _refuse("consent must have the fields version, text_digest and given_at, and no others")
    version, given_at = consent["version"], read_time(consent["given_at"])
    if not is_text(version) or not 1 <= len(version) <= MOST_VERSION_LETTERS:
        _refuse(f"consent version must be a text of 1 to {MOST_VERSION_LETTERS} letters")
    if not is_digest(consent["text_digest"]):
        _refuse("consent text_digest must be written as sha256: and 64 digits")
    if given_at is None:
        _refuse("consent given_at must be a time such as 2026-11-15T12:00:00Z")
    return ConsentReceipt(version=version, text_digest=consent["text_digest"], given_at=given_at)


def _read_records(records: object) -> tuple[Record, ...]:
    if not isinstance(records, list) or len(records) > MOST_RECORDS:
        _refuse(f"records must be a list of at most {MOST_RECORDS:,}")
    return tuple(_read_record(number, record) for number, record in enumerate(records))


def _read_record(number: int, record: object) -> Record:
    if not isinstance(record, Mapping) or set(record) != {"query", "url"}:
        _refuse(f"record {number} must have the fields query and url, and no others")
    for name, most in (("query", MOST_QUERY_BYTES), ("url", MOST_URL_BYTES)):
        text = record[name]
        if not is_text(text):
            _refuse(f"record {number}: {name} must be a text of whole characters")
        if not 1 <= len(text.encode()) <= most:
            _refuse(f"record {number}: {name} must be 1 to {most:,} bytes in UTF-8")
    if _OTHER_SCHEME.match(record["url"]):
        _refuse(f"record {number}: url must not be an address other than http or https")
    return Record(record["query"], record["url"])


def _refuse(rule: str) -> NoReturn:
    raise InputError(_SOURCE, rule)
