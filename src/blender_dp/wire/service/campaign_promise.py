"""Campaign description as a device reads it: consent, ε, δ, relay and tokens that were promised.

A service returns the description with the campaign, and every signed head list is bound to its
digest. A device therefore compares the two before it reports: a list that asks for more than the
description promises, or that belongs to another description, is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any
from uuid import UUID

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.wire.documents.document import digest_of
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.service.hash_chain import is_campaign_id, is_text
from blender_dp.wire.tokens.issuer import Issuer

_WHAT = "the campaign's description"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayPromise:
    """Relay of a campaign, and the limits of the reports that pass through it."""

    address: str
    public_key: str
    """The key with which the relay signs."""
    least_batch: int
    """The relay passes on no smaller batch."""
    epsilon_cap: Fraction
    """Limit of ε0, which is left if relay and collector work together."""
    dishonest: Fraction
    """The share of a batch that may come from dishonest clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPromise:
    """The parts of a description that a device checks."""

    campaign: UUID
    digest: str
    """Digest of the whole description, including fields that are not read here."""
    epsilon: Fraction
    delta: Fraction
    consent_version: str
    consent_text: str
    relay: RelayPromise | None = None
    """None if the campaign has no relay clients."""
    needs_token: bool = False
    """Whether every report needs a token, which a person gets once."""
    issuer: Issuer | None = None
    """Another server that issues the tokens; None if the service does."""
    clients_until: datetime | None = None
    """Until when reports are accepted, if that is known."""


def read_campaign_promise(answer: Mapping[str, Any]) -> CampaignPromise:
    """Read the description in a service's answer about a campaign.

    Fields beyond those that a device needs are allowed: the digest covers them.

    Args:
        answer: The answer of ``GET /v1/campaigns/{id}``.
    """
    description = Fields("the campaign", answer).part("description")
    campaign = description.text("id")
    if not is_campaign_id(campaign):
        description.refuse("id", "must be the id of a campaign")
    parameters, consent = description.part("parameters"), description.part("consent")
    return CampaignPromise(
        campaign=UUID(campaign),
        digest=_digest(answer["description"]),
        epsilon=_exact(parameters, "epsilon"),
        delta=_exact(parameters, "delta"),
        consent_version=_text(consent, "version"),
        consent_text=_text(consent, "text"),
        relay=_relay(description.part("relay")) if description.has("relay") else None,
        **_tokens(description),
    )


def _tokens(description: Fields) -> dict[str, Any]:
    if not description.has("reports"):
        return {}
    if description.text("reports") != "token":
        description.refuse("reports", "must be token if it is there")
    return {
        "needs_token": True,
        "issuer": _issuer(description.part("issuer")) if description.has("issuer") else None,
        "clients_until": _clients_until(description),
    }


def _issuer(fields: Fields) -> Issuer:
    address, key = _text(fields, "address"), _text(fields, "public_key")
    try:
        return Issuer(address=address, public_key=key)
    except ParameterError as error:
        fields.refuse(error.name.removeprefix("issuer."), "must be that of an issuer of tokens")


def _clients_until(description: Fields) -> datetime | None:
    """Return until when clients may report; None if the rules have no time that can be read."""
    rules = description.value("rules") if description.has("rules") else None
    text = rules.get("clients_until") if isinstance(rules, Mapping) else None
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None


def _relay(fields: Fields) -> RelayPromise:
    return RelayPromise(
        address=_text(fields, "address"),
        public_key=_text(fields, "public_key"),
        least_batch=fields.whole("least_batch", at_least=1),
        epsilon_cap=_exact(fields, "epsilon_cap"),
        dishonest=_exact(fields, "dishonest"),
    )


def _digest(description: Mapping[str, Any]) -> str:
    try:
        return digest_of(description)
    except (UnicodeEncodeError, ValueError, RecursionError):
        raise InputError(_WHAT, "must be JSON of whole characters") from None


def _exact(fields: Fields, name: str) -> Fraction:
    fields.decimal(name)  # its rules
    return Fraction(fields.text(name))


def _text(fields: Fields, name: str) -> str:
    value = fields.text(name)
    if not is_text(value):
        fields.refuse(name, "must be whole characters")
    return value
