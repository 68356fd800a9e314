"""Download of a campaign's documents, checked by signature, public log and computation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from blender_dp.client.checked_log import check_log, digests_in_log, fetch_pieces
from blender_dp.client.policy import RefusedError, Rule
from blender_dp.client.released_result import (
    CERTIFICATE,
    CLIENT_ESTIMATES,
    HEAD_LIST,
    OPT_IN_ESTIMATES,
    RELAY_ESTIMATES,
    RELEASE,
    relayed_side,
    released_result,
)
from blender_dp.client.transport import Transport
from blender_dp.core.blender import BlenderResult
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.wire.service.hash_chain import PublicKind
from blender_dp.wire.service.signatures import SignatureError
from blender_dp.wire.service.signed_head_list import read_signed_head_list

FILES = {
    OPT_IN_ESTIMATES: "opt-in-estimates",
    CLIENT_ESTIMATES: "client-estimates",
    CERTIFICATE: "certificate",
    RELEASE: "release",
}
"""Path of each document below the campaign."""
FILES_WITH_RELAY = {**FILES, RELAY_ESTIMATES: "relay-estimates"}
"""The same for a campaign with a relay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedFiles:
    """The documents of a released campaign, by the name of their file."""

    documents: Mapping[str, Mapping[str, Any]]
    public_key: str
    result: BlenderResult
    """What they give, computed again."""
    certificate: ListCertificate


def fetch_released(
    transport: Transport, campaign: UUID, *, key: str | None = None
) -> ReleasedFiles:
    """Fetch a campaign's documents; refuse them unless all checks pass.

    The head list must be signed and in the public log, the release in the log too. Estimates and
    certificate must be those from which the release is computed.

    Args:
        transport: Connection to the service.
        campaign: Id of the campaign.
        key: The service's public key; None accepts the key that it names.
    """
    below = f"campaigns/{campaign}"
    fetched = transport.send("GET", f"{below}/head-list").document("the head list")
    signed = read_signed_head_list(fetched)
    if signed.campaign != campaign:
        raise RefusedError(Rule.CAMPAIGN, "the head list is that of another campaign")
    if key is not None and signed.public_key != key:
        raise SignatureError("the head list is signed with another key")
    files = FILES if signed.head_list.relay is None else FILES_WITH_RELAY
    documents = {
        name: transport.send("GET", f"{below}/{place}").document(f"the document {place}")
        for name, place in files.items()
    }
    log = check_log(fetch_pieces(transport, "log"), key=signed.public_key)
    listed = log.require(
        [signed.digest], "the head list", campaign=campaign, kind=PublicKind.HEAD_LIST
    )
    if listed != signed.log_entry:
        raise SignatureError("the head list names another log entry than the log has for it")
    log.require(
        digests_in_log(documents[RELEASE]),
        "the release",
        campaign=campaign,
        kind=PublicKind.RELEASE,
    )
    everything = {HEAD_LIST: signed.document, **documents}
    relayed = relayed_side(everything, signed.head_list)
    if relayed is not None and relayed.statement is not None:
        log.require(
            [relayed.statement],
            "the relay's statement",
            campaign=campaign,
            kind=PublicKind.RELAY_BATCH,
        )
    result, certificate = released_result(everything)
    return ReleasedFiles(
        documents=everything,
        public_key=signed.public_key,
        result=result,
        certificate=certificate,
    )
