"""Signed head list of a service, with its entry in the public log; version 2.

The signature binds four things: the campaign, the digest of its public description (purpose,
consent, parameters), the list, and the list's place in the log. A device that compares the
description with the list knows that the list asks for no more than people were promised. A list
for relay clients also binds the relay: its address and key, and the key to encrypt reports with.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.documents.document import canonical, verified
from blender_dp.wire.published.head_list import head_list_in
from blender_dp.wire.relayed.listed_relay import ListedRelay, read_listed_relay
from blender_dp.wire.service.hash_chain import (
    PublicKind,
    entry_hash,
    is_campaign_id,
    is_digest,
    is_entry,
)
from blender_dp.wire.service.signatures import SignatureError, require_signature, signature_fields

FORMAT = "blender-dp signed head list"
_DOMAIN = b"blender-dp signed head list 2\0"
_VERSION = 2
_WHAT = "the head list"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedHeadList:
    """A head list whose signature and log entry are correct."""

    campaign: UUID
    description: str
    """The digest of the campaign's public description."""
    head_list: HeadList
    digest: str
    log_entry: Mapping[str, Any]
    public_key: str
    document: Mapping[str, Any]
    """``head_list.json`` as it was received."""
    relay: ListedRelay | None = None
    """Where relay clients send their reports; None without a relay."""


def signed_head_list_document(
    head_list: Mapping[str, Any],
    log_entry: Mapping[str, Any],
    *,
    campaign: UUID,
    description: str,
    key: Ed25519PrivateKey,
    relay: ListedRelay | None = None,
) -> dict[str, Any]:
    """Return the signed list that every client of a campaign gets.

    Args:
        head_list: The document of ``head_list.json``.
        log_entry: The entry of the public log that names it.
        campaign: The campaign of the list.
        description: The digest of the campaign's public description.
        key: The service's signing key.
        relay: The relay of the campaign; a list has one exactly if it has a relay mechanism.
    """
    named = None if relay is None else relay.document()
    message = _message(str(campaign), description, head_list["digest"], log_entry["hash"], named)
    return {
        "format": FORMAT,
        "version": _VERSION,
        "campaign": str(campaign),
        "description": description,
        "head_list": dict(head_list),
        "log_entry": dict(log_entry),
        **({} if named is None else {"relay": named}),
        **signature_fields(key, message),
    }


def read_signed_head_list(document: Mapping[str, Any]) -> SignedHeadList:
    """Check signature, digest and log entry of a signed list; refuse it if one of them is wrong.

    The reader's policy decides whether the key is the right one and whether to report against
    the list.
    """
    fields = verified(_WHAT, document, FORMAT, _VERSION, has_digest=False)
    fields.only(
        *("format", "version", "campaign", "description", "head_list", "log_entry"),
        *("relay", "public_key", "signature"),
    )
    campaign, entry = fields.value("campaign"), fields.value("log_entry")
    if not is_campaign_id(campaign):
        fields.refuse("campaign", "must be the id of a campaign")
    description = fields.value("description")
    if not is_digest(description):
        fields.refuse("description", "must be the digest of the campaign's description")
    if not is_entry(entry):
        fields.refuse("log_entry", "must be an entry of the public log")
    digest = fields.part("head_list").text("digest")
    relay = read_listed_relay(fields.part("relay")) if fields.has("relay") else None
    named = None if relay is None else relay.document()
    message = _message(campaign, description, digest, entry["hash"], named)
    key = require_signature(_WHAT, document, message)
    _require_entry(entry, campaign, digest)
    head_list = head_list_in(_WHAT, document["head_list"])
    if (head_list.relay is None) != (relay is None):
        fields.refuse("relay", "must be there exactly if the list has a relay mechanism")
    return SignedHeadList(
        campaign=UUID(campaign),
        description=description,
        head_list=head_list,
        digest=digest,
        log_entry=entry,
        public_key=key,
        document=document["head_list"],
        relay=relay,
    )


def _require_entry(entry: Mapping[str, Any], campaign: str, digest: str) -> None:
    if entry["hash"] != entry_hash(entry):
        raise SignatureError(f"{_WHAT} has a log entry that was changed")
    if entry["kind"] != PublicKind.HEAD_LIST or entry["campaign"] != campaign:
        raise SignatureError(f"{_WHAT} has the log entry of something else")
    if entry["digest"] != digest:
        raise SignatureError(f"{_WHAT} has the log entry of another list")


def _message(
    campaign: str, description: str, digest: str, log_entry: str, relay: Mapping[str, str] | None
) -> bytes:
    signed = {
        "campaign": campaign,
        "description": description,
        "head_list": digest,
        "log_entry": log_entry,
        **({} if relay is None else {"relay": relay}),
    }
    return _DOMAIN + canonical(signed)
