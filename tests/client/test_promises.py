"""A device reports only against a list that asks for no more than its campaign promises."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.conftest import MakeDevice
from client.stand_in import CAMPAIGN, StandIn, description

from blender_dp.client.policy import RefusedError, Rule, require_promised
from blender_dp.client.reports.relay_rules import require_described_relay, require_relay
from blender_dp.core.errors import BlenderError
from blender_dp.wire.relayed.listed_relay import ListedRelay
from blender_dp.wire.service.campaign_promise import read_campaign_promise
from blender_dp.wire.service.signed_head_list import read_signed_head_list

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "test_vectors" / "signed_head_list.json").read_text(encoding="utf-8"))
RELAYED = json.loads((ROOT / "test_vectors" / "relayed_reports.json").read_text(encoding="utf-8"))


def compare(signed: dict[str, Any], described: dict[str, Any]) -> None:
    require_promised(
        read_signed_head_list(signed), read_campaign_promise({"description": described})
    )


def test_the_good_list_is_what_was_promised() -> None:
    compare(VECTORS["good"], VECTORS["description"])


@pytest.mark.parametrize("what", VECTORS["refused_by_description"])
def test_a_list_that_breaks_the_promise_is_refused(what: str) -> None:
    case = VECTORS["refused_by_description"][what]
    with pytest.raises(BlenderError):
        compare(case["signed"], case["description"])


def relay_of(signed: dict[str, Any], described: dict[str, Any]) -> ListedRelay:
    """Check list and description as a relay client does; return the relay."""
    read = read_signed_head_list(signed)
    require_described_relay(read, read_campaign_promise({"description": described}))
    return require_relay(read)


def test_the_good_relay_is_what_was_promised() -> None:
    relay = relay_of(RELAYED["signed_head_list"], RELAYED["description"])
    assert relay.document() == RELAYED["signed_head_list"]["relay"]


@pytest.mark.parametrize("what", RELAYED["refused_by_description"])
def test_a_relay_that_people_were_not_told_of_is_refused(what: str) -> None:
    case = RELAYED["refused_by_description"][what]
    with pytest.raises(RefusedError):
        relay_of(case["signed"], case["description"])


@pytest.mark.parametrize("what", RELAYED["refused_by_policy"])
def test_a_relay_list_that_overstates_its_promise_is_refused(what: str) -> None:
    with pytest.raises(RefusedError) as refusal:
        require_relay(read_signed_head_list(RELAYED["refused_by_policy"][what]))
    assert refusal.value.rule is Rule.PROMISE


def test_a_campaign_that_shows_less_than_its_list_takes_is_not_reported_to(
    make_device: MakeDevice, service: StandIn
) -> None:
    service.descriptions[CAMPAIGN] = description(CAMPAIGN, epsilon="1.0")
    device = make_device()
    with pytest.raises(RefusedError) as refusal:
        device.report(CAMPAIGN, "query 001", "1.example")
    assert refusal.value.rule is Rule.PROMISE
    assert service.bodies == []
    assert device.ledger().spent == 0


def test_a_description_of_another_campaign_is_refused(
    make_device: MakeDevice, service: StandIn
) -> None:
    service.descriptions[CAMPAIGN] = description(UUID(int=9))
    with pytest.raises(BlenderError, match="description is that of another campaign"):
        make_device().report(CAMPAIGN, None, None)
    assert service.bodies == []
