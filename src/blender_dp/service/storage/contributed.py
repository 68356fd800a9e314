"""Encryption of contributions before they are stored, and decryption for the head-list job."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec

from blender_dp.core.head_list.head_list import Record
from blender_dp.service.keys.encrypted_records import RecordCipher, content_tag
from blender_dp.service.keys.key_vault import KeyVault, Purpose
from blender_dp.service.storage.store import Contribution
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.service import contribution as wire

_RECORDS = msgspec.msgpack.Decoder(list[tuple[str, str]])
_ENCODER = msgspec.msgpack.Encoder()
Decrypt = Callable[[Contribution], list[Record]]


def encrypt_contribution(
    keys: KeyVault, campaign_id: UUID, enrolment: bytes, given: wire.Contribution
) -> Contribution:
    """Encrypt an upload for storage; the tag tells the very same one from another.

    The tag covers the enrolment, so that equal uploads of two people have different tags.
    """
    document: dict[str, Any] = wire.contribution_document(given)
    tagged = enrolment + canonical(document)
    cipher = RecordCipher(key=keys.key(campaign_id, Purpose.RECORDS), campaign=campaign_id)
    consent, records = given.consent, _ENCODER.encode(list(map(tuple, given.records)))
    return Contribution(
        enrolment=enrolment,
        encrypted=cipher.encrypt(records, enrolment=enrolment),
        tag=content_tag(keys.key(campaign_id, Purpose.RECORD_TAGS), tagged),
        consent_version=consent.version,
        consent_digest=consent.text_digest,
        consent_given_at=consent.given_at,
    )


def make_decrypter(keys: KeyVault, campaign_id: UUID) -> Decrypt:
    """Return what decrypts a campaign's contributions; fails if their key was destroyed."""
    cipher = RecordCipher(key=keys.key(campaign_id, Purpose.RECORDS), campaign=campaign_id)

    def records_of(contribution: Contribution) -> list[Record]:
        content = cipher.decrypt(contribution.encrypted, enrolment=contribution.enrolment)
        return [Record(query, url) for query, url in _RECORDS.decode(content)]

    return records_of
