"""A campaign's description holds all that is fixed, in numbers that every language writes alike."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.parameters import Parameters
from blender_dp.service.campaign import Campaign, Reports, Rules, State
from blender_dp.service.campaign_description import (
    description,
    read_description,
    read_time,
    write_time,
)
from blender_dp.service.campaign_relay import CampaignRelay
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.tokens.issuer import Issuer
from campaign_stores import LATER, NOW, a_campaign

TIMES = st.datetimes(timezones=st.just(UTC))


KEY = to_text(bytes(range(32)))
VECTORS = Path(__file__).parents[2] / "test_vectors" / "report_tokens.json"
TOKEN_KEY: str = json.loads(VECTORS.read_text(encoding="utf-8"))["token_key"]


def with_relay(**changes: float) -> Campaign:
    relay = CampaignRelay(
        address="https://relay.example/", public_key=KEY, least_batch=20_000, **changes
    )
    return replace(a_campaign(), relay=relay, rules=Rules(relay_wait_hours=48))


def there_and_back(campaign: Campaign) -> Campaign:
    text = json.dumps(description(campaign))
    return read_description(text, state=campaign.state, moved_at=write_time(campaign.moved_at))


@given(
    deadline=st.none() | TIMES,
    enough=st.none() | st.integers(1, 10**9),
    name=st.text(),
    created_at=TIMES,
    state=st.sampled_from(State),
)
def test_a_campaign_comes_back_from_its_description(
    deadline: datetime | None, enough: int | None, name: str, created_at: datetime, state: State
) -> None:
    rules = Rules(opt_in_until=deadline, clients_until=deadline, clients_enough=enough)
    campaign = replace(a_campaign(name, rules), created_at=created_at, state=state)
    assert there_and_back(campaign) == campaign


def test_a_campaign_older_than_a_rule_keeps_its_description() -> None:
    older = description(a_campaign(rules=Rules(clients_enough=5, open_hours=None)))
    assert "open_hours" not in older["rules"]
    campaign = read_description(json.dumps(older), state="draft", moved_at=older["created_at"])
    assert description(campaign) == older
    assert "open_hours" in description(a_campaign(rules=Rules()))["rules"]


def test_a_campaign_older_than_the_fields_about_the_collector_keeps_its_description() -> None:
    nobody = replace(a_campaign(), controller=None, contact=None, privacy_policy=None)
    older = description(nobody)
    assert not {"controller", "contact", "privacy_policy"} & set(older)
    assert there_and_back(nobody) == nobody


def test_every_field_but_state_and_time_of_the_move_is_in_it() -> None:
    names = {field.name for field in fields(Campaign)} - {"state", "moved_at"}
    issuer = Issuer(address="https://issuer.example/", public_key=TOKEN_KEY)
    named = replace(
        with_relay(),
        query_name="product",
        url_name="state",
        reports=Reports.TOKEN,
        issuer=issuer,
        known=uuid4(),
    )
    assert set(description(named)) == names
    assert there_and_back(named) == named
    assert names - set(description(a_campaign())) == {
        *("query_name", "url_name", "relay", "reports", "issuer", "known"),
    }


def test_a_campaign_without_a_relay_is_described_as_before_there_were_any() -> None:
    document = description(a_campaign())
    assert list(document) == [
        *("id", "name", "purpose", "controller", "contact", "privacy_policy", "consent"),
        *("parameters", "expected_clients", "open_enrolment", "rules", "created_at"),
    ]
    assert "relay_wait_hours" not in document["rules"]


def test_the_numbers_of_a_relay_are_texts() -> None:
    document = description(with_relay(epsilon_cap=8, dishonest=0.25))
    assert document["relay"] == {
        "address": "https://relay.example/",
        "public_key": KEY,
        "least_batch": 20_000,
        "epsilon_cap": "8.0",
        "dishonest": "0.25",
    }
    assert document["rules"]["relay_wait_hours"] == 48


def test_a_move_does_not_change_it() -> None:
    campaign = a_campaign()
    moved = replace(campaign, state=State.RELEASED, moved_at=LATER)
    assert description(moved) == description(campaign)


@pytest.mark.parametrize("epsilon", [4.0, 0.1, 1e-7])
def test_no_number_depends_on_how_a_language_writes_fractions(epsilon: float) -> None:
    parameters = Parameters(epsilon=epsilon, delta=1e-5)
    document = description(replace(a_campaign(), parameters=parameters))
    assert document["parameters"]["epsilon"] == repr(epsilon)
    assert not any(isinstance(value, float) for value in document["parameters"].values())


@given(one=TIMES, other=TIMES)
def test_written_times_sort_as_times_do(one: datetime, other: datetime) -> None:
    assert (write_time(one) < write_time(other)) == (one < other)
    assert read_time(write_time(one)) == one


def test_a_time_of_another_zone_is_written_in_utc() -> None:
    assert write_time(NOW) == "2026-11-15T12:00:00.000000Z"
