"""Requests of a device about a campaign, each answer checked before it is used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from blender_dp.client.policy import (
    ClientPolicy,
    History,
    RefusedError,
    Rule,
    require_described,
    require_genuine,
    require_promised,
)
from blender_dp.client.public_log import require_logged
from blender_dp.client.reports.relay_rules import require_described_relay
from blender_dp.client.reports.token_rules import require_described_tokens
from blender_dp.client.transport import Transport
from blender_dp.core.errors import InputError
from blender_dp.wire.service.campaign_promise import CampaignPromise, read_campaign_promise
from blender_dp.wire.service.signed_head_list import SignedHeadList, read_signed_head_list

MOST_PIECE_BYTES = 8 << 20
"""Size limit of a piece of the public log: up to 10,000 entries of about 400 bytes."""
_OPEN = "clients-open"
"""State in which reports are accepted; in any other state a report would be wasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedList:
    """A signed list, the description that it is bound to, and the campaign's state."""

    signed: SignedHeadList
    document: Mapping[str, Any]
    """The signed list as it was received."""
    promise: CampaignPromise
    state: object

    def require(self, campaign: UUID, policy: ClientPolicy, history: History) -> None:
        """Refuse a list that is not the campaign's only public list, or breaks its promise."""
        require_genuine(self.signed, campaign, policy, history)
        require_described(self.promise, campaign, history)
        require_promised(self.signed, self.promise)
        require_described_relay(self.signed, self.promise)
        require_described_tokens(self.signed.head_list.token_key, self.promise)

    def require_open(self) -> None:
        """Refuse to draw a report unless the campaign accepts reports now."""
        if self.state != _OPEN:
            raise RefusedError(Rule.NOT_OPEN, "the campaign does not take reports now")


def fetch_campaign(transport: Transport, campaign: UUID) -> dict[str, Any]:
    """Return the service's description and state of a campaign."""
    return transport.send("GET", f"campaigns/{campaign}").document("the campaign")


def fetch_list(transport: Transport, campaign: UUID) -> FetchedList:
    """Fetch a campaign's signed list and description; only their form is checked."""
    answer = transport.send("GET", f"campaigns/{campaign}/head-list")
    document = answer.document("the head list")
    signed, described = read_signed_head_list(document), fetch_campaign(transport, campaign)
    return FetchedList(
        signed=signed,
        document=document,
        promise=read_campaign_promise(described),
        state=described.get("state"),
    )


def read_public_log(
    transport: Transport, signed: SignedHeadList, remembered: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Read the public log and return its last entry; refuse a list that is not in the log.

    Args:
        transport: Connection to the service.
        signed: The list.
        remembered: The last entry that was read earlier from the log with the list's key.
    """

    def fetch(start: int) -> Mapping[str, Any]:
        answer = transport.send("GET", f"log?from={start}")
        if len(answer.content) > MOST_PIECE_BYTES:
            rule = f"must come in pieces of at most {MOST_PIECE_BYTES >> 20} MiB"
            raise InputError("the log", rule)
        return answer.document("the log")

    return require_logged(signed.log_entry, signed.public_key, remembered, fetch)
