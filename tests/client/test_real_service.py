"""Devices against the real service: contribute, withdraw, report; every refusal is a sentence."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.stand_in import RELAY_KEY, standing_in
from running_service import RunningService, running_service

from blender_dp.client import BlenderClient, ClientPolicy, RefusedError, ServiceRefusalError
from blender_dp.client.crowd.people import People
from blender_dp.client.crowd.population import Stage, contribute, play
from blender_dp.client.operator import Operator
from blender_dp.client.released import fetch_released
from blender_dp.client.transport import HttpTransport
from blender_dp.core.errors import BlenderError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.wire.service.signatures import public_key_of

CONSENT = "I agree, é★."
RECORDS = (Record("weather", "w.example"), Record("★", "\x00*"))
NEW: dict[str, Any] = {
    "name": "A test",
    "purpose": "To see one device at work.",
    "controller": "A town library",
    "contact": "privacy@library.example",
    "privacy_policy": "https://library.example/privacy",
    "consent": {"version": "1", "text": CONSENT},
    "parameters": {"epsilon": 4.0, "delta": 1e-5},
    "expected_clients": 100,
    "open_enrolment": True,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def operator(service: RunningService) -> Iterator[Operator]:
    with HttpTransport(service.url) as transport:
        yield Operator(transport=transport, token=service.token)


@pytest.fixture
def campaign(operator: Operator) -> UUID:
    made = operator.create(NEW)
    operator.move(made, "open-opt-in", origin="draft")
    return made


@pytest.fixture
def device(service: RunningService, tmp_path: Path) -> Iterator[BlenderClient]:
    with BlenderClient(service.url, tmp_path / "device") as client:
        yield client


def counts(operator: Operator, campaign: UUID) -> tuple[int, int, int]:
    answer = operator.transport.send("GET", f"campaigns/{campaign}/progress", token=operator.token)
    progress = answer.document("x")
    return progress["enrolled"], progress["contributed"], progress["withdrawn"]


def test_a_person_contributes_once_however_often_it_is_sent(
    device: BlenderClient, operator: Operator, campaign: UUID
) -> None:
    device.enrol(campaign)
    device.contribute(campaign, RECORDS, agreed=CONSENT)
    device.contribute(campaign, RECORDS, agreed=CONSENT)
    assert counts(operator, campaign)[1] == 1
    with pytest.raises(RefusedError, match="another contribution"):
        device.contribute(campaign, RECORDS[:1], agreed=CONSENT)


def test_a_person_withdraws_for_good(
    device: BlenderClient, operator: Operator, campaign: UUID
) -> None:
    [token] = operator.enrolment_tokens(campaign, 1)
    device.enrol(campaign, token)
    device.contribute(campaign, (), agreed=CONSENT)
    device.withdraw(campaign)
    assert counts(operator, campaign)[1:] == (0, 1)
    with pytest.raises(BlenderError, match="withdrew"):
        device.contribute(campaign, (), agreed=CONSENT)


def test_a_token_that_nobody_made_is_refused(device: BlenderClient, campaign: UUID) -> None:
    device.enrol(campaign, "A" * 43)
    with pytest.raises(ServiceRefusalError):
        device.contribute(campaign, RECORDS, agreed=CONSENT)


def test_there_is_no_list_to_report_against_before_it_is_published(
    device: BlenderClient, campaign: UUID
) -> None:
    with pytest.raises(ServiceRefusalError, match="status 4"):
        device.report(campaign, "weather", "w.example")
    assert device.ledger().reports == ()


def test_a_move_that_is_not_allowed_is_told(operator: Operator, campaign: UUID) -> None:
    with pytest.raises(ServiceRefusalError, match="move-not-allowed"):
        operator.move(campaign, "seal-clients", origin="clients-open")


def test_a_campaign_that_is_not_there(device: BlenderClient) -> None:
    with pytest.raises(ServiceRefusalError, match="unknown-campaign"):
        device.campaign(UUID(int=7))


def stage(service: RunningService, operator: Operator, campaign: UUID, *, drives: bool) -> Stage:
    return Stage(
        url=service.url,
        campaign=campaign,
        operator=operator,
        drives=drives,
        batch=7,
        connections=4,
        patience=60.0,
        step=lambda _: None,
        share=lambda _: None,
    )


@pytest.fixture
def open_to_clients(service: RunningService, operator: Operator) -> UUID:
    return open_clients(service, operator, {})


def open_clients(service: RunningService, operator: Operator, more: dict[str, Any]) -> UUID:
    """Return a campaign whose list was published: a hundred people agree on one record."""
    promise = {"epsilon": 6.0, "delta": 1e-5}
    campaign = operator.create({**NEW, "parameters": promise, **more})
    people = People(opt_in=[[RECORDS[0]]] * 100, clients=[])
    operator.move(campaign, "open-opt-in", origin="draft")
    anybody = replace(operator, token=None)
    assert contribute(people.opt_in, stage(service, anybody, campaign, drives=False)) == 100
    operator.move(campaign, "seal-opt-in", origin="opt-in-open")
    operator.wait_for(campaign, "list-published", seconds=60)
    operator.move(campaign, "open-clients", origin="list-published")
    return campaign


def test_devices_report_once_each_and_the_campaign_is_released(
    service: RunningService, operator: Operator, open_to_clients: UUID, tmp_path: Path
) -> None:
    campaign, policy = open_to_clients, ClientPolicy(smallest_list=1)
    with BlenderClient(service.url, tmp_path / "device", policy=policy) as device:
        first = device.report(campaign, *RECORDS[0])
        assert (first.state, device.report(campaign, None, None)) == ("sent", first)
        again = device._transport.send("POST", f"campaigns/{campaign}/reports", body=first.body)
        assert again.document("x") == {"accepted": 0, "repeated": 1}
    people = People(opt_in=[[RECORDS[0]]] * 5, clients=[RECORDS[0], None] * 25)
    played = play(people, stage(service, operator, campaign, drives=True), Randomness.secure())
    assert (played.contributed, played.reported, played.accepted) == (0, 50, 50)
    assert played.state == "released"
    released = fetch_released(operator.transport, campaign)
    assert released.documents["release.json"]["users"] == {"opt_in": 100, "clients": 51}


@pytest.mark.parametrize("reports", ["open", "token"])
def test_relay_clients_report_to_the_relay_that_the_list_names(
    service: RunningService, operator: Operator, tmp_path: Path, reports: str
) -> None:
    with standing_in() as relay:
        named = {
            "address": f"{relay.url}/relay",
            "public_key": public_key_of(RELAY_KEY),
            "least_batch": 60,
        }
        campaign = open_clients(service, operator, {"relay": named, "reports": reports})
        policy = ClientPolicy(smallest_list=1, token_delay=timedelta())
        with BlenderClient(service.url, tmp_path / "device", policy=policy) as device:
            if reports == "token":
                device.enrol(campaign)
            kept = device.report(campaign, *RECORDS[0], through_relay=True)
            assert (kept.state, kept.relay) == ("sent", f"{relay.url}/relay/")
            cap = device.ledger().relay_spent
            assert 0 < cap <= 8
        people = People(opt_in=[], clients=[None] * 3, relayed=[RECORDS[0], None] * 25)
        played = play(people, stage(service, operator, campaign, drives=False), Randomness.secure())
    assert (played.relayed, played.reported, played.accepted) == (50, 3, 3)
    documents = [json.loads(body) for body in relay.relayed]
    encrypted = [report for one in documents for report in one.get("reports", [one.get("report")])]
    assert len(set(encrypted)) == 51
    assert len({len(report) for report in encrypted}) == 1


def test_a_strict_device_refuses_a_real_list_that_is_small(
    device: BlenderClient, open_to_clients: UUID
) -> None:
    with pytest.raises(RefusedError, match="must have at least 32 queries; it has 1"):
        device.report(open_to_clients, *RECORDS[0])
    assert device.ledger().reports == ()
