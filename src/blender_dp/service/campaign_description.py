"""Description of a campaign: the stored and logged document of all that no move changes."""

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from blender_dp.service.campaign import (
    DEADLINES,
    OPTIONAL,
    Campaign,
    Consent,
    Reports,
    Rules,
    State,
)
from blender_dp.service.campaign_relay import read_relay
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.published.parameters import parameters_document, read_parameters
from blender_dp.wire.tokens.issuer import read_issuer

_LEFT_OUT = ("open_hours", "relay_wait_hours")
"""The rules that are left out if they are None: campaigns that are older than a rule, or without a
relay, do not have it, and their logged description must not change."""


def description(campaign: Campaign) -> dict[str, Any]:
    """Return everything about a campaign that no move changes."""
    optional = {name: getattr(campaign, name) for name in OPTIONAL}
    return {
        "id": str(campaign.id),
        "name": campaign.name,
        "purpose": campaign.purpose,
        **{name: value for name, value in optional.items() if value is not None},
        "consent": {"version": campaign.consent.version, "text": campaign.consent.text},
        "parameters": parameters_document(campaign.parameters),
        "expected_clients": campaign.expected_clients,
        **({} if campaign.relay is None else {"relay": campaign.relay.document()}),
        **({} if campaign.known is None else {"known": str(campaign.known)}),
        **({} if campaign.reports is Reports.OPEN else {"reports": str(campaign.reports)}),
        **({} if campaign.issuer is None else {"issuer": campaign.issuer.document()}),
        "open_enrolment": campaign.open_enrolment,
        "rules": _rules_document(campaign.rules),
        "created_at": write_time(campaign.created_at),
    }


def read_description(text: str, *, state: str, moved_at: str) -> Campaign:
    """Return the campaign of a stored description."""
    document = json.loads(text)
    return Campaign(
        id=UUID(document["id"]),
        name=document["name"],
        purpose=document["purpose"],
        **{name: document.get(name) for name in OPTIONAL},
        consent=Consent(**document["consent"]),
        parameters=read_parameters(Fields(Path("campaigns"), document["parameters"])),
        expected_clients=document["expected_clients"],
        relay=read_relay(document.get("relay")),
        known=UUID(document["known"]) if "known" in document else None,
        reports=Reports(document.get("reports", Reports.OPEN)),
        issuer=read_issuer(document.get("issuer")),
        open_enrolment=document["open_enrolment"],
        rules=_rules(document["rules"]),
        state=State(state),
        created_at=read_time(document["created_at"]),
        moved_at=read_time(moved_at),
    )


def write_time(time: datetime) -> str:
    """Return a time in UTC as a text; texts sort in the order of their times.

    >>> write_time(datetime(2026, 11, 15, 12, tzinfo=UTC))
    '2026-11-15T12:00:00.000000Z'
    """
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_time(text: str) -> datetime:
    """Return the time that :func:`write_time` wrote."""
    return datetime.fromisoformat(text)


def _rules_document(rules: Rules) -> dict[str, Any]:
    values = {field.name: getattr(rules, field.name) for field in fields(rules)}
    return {
        name: write_time(value) if isinstance(value, datetime) else value
        for name, value in values.items()
        if not (name in _LEFT_OUT and value is None)
    }


def _rules(document: Mapping[str, Any]) -> Rules:
    values: dict[str, Any] = {
        name: read_time(value) if name in DEADLINES and value is not None else value
        for name, value in document.items()
    }
    return Rules(**{**dict.fromkeys(_LEFT_OUT), **values})
