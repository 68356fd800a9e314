"""A campaign's description is read whole or refused, and its digest covers every field."""

from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest
from wire.lists import digest_by_hand

from blender_dp.core.errors import InputError
from blender_dp.wire.service.campaign_promise import RelayPromise, read_campaign_promise

DESCRIPTION: dict[str, Any] = {
    "id": str(UUID(int=1)),
    "name": "é★",
    "consent": {"version": "2", "text": "I agree."},
    "parameters": {"epsilon": "4.0", "delta": "1e-05", "later": 1},
}


def test_what_was_promised_is_read_exactly() -> None:
    promise = read_campaign_promise({"state": "draft", "description": DESCRIPTION})
    assert promise.campaign == UUID(int=1)
    assert (promise.epsilon, promise.delta) == (Fraction(4), Fraction(1, 100_000))
    assert (promise.consent_version, promise.consent_text) == ("2", "I agree.")
    assert promise.digest == digest_by_hand(DESCRIPTION)


RELAY: dict[str, Any] = {
    "address": "https://relay.example/",
    "public_key": "key",
    "least_batch": 20_000,
    "epsilon_cap": "8.0",
    "dishonest": "0.2",
}


def test_the_relay_is_read_exactly() -> None:
    answer = {"description": {**DESCRIPTION, "relay": {**RELAY, "later": 1}}}
    promise = read_campaign_promise(answer)
    assert promise.relay == RelayPromise(
        address="https://relay.example/",
        public_key="key",
        least_batch=20_000,
        epsilon_cap=Fraction(8),
        dishonest=Fraction(1, 5),
    )
    assert read_campaign_promise({"description": DESCRIPTION}).relay is None


@pytest.mark.parametrize(
    "changed",
    [
        {"address": 7},
        {"public_key": None},
        {"least_batch": 0},
        {"least_batch": "20000"},
        {"epsilon_cap": 8},
        {"dishonest": "nan"},
    ],
)
def test_what_is_no_relay_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read_campaign_promise({"description": {**DESCRIPTION, "relay": {**RELAY, **changed}}})


@pytest.mark.parametrize("name", ["name", "later field"])
def test_the_digest_covers_every_field(name: str) -> None:
    changed = {**DESCRIPTION, name: "x"}
    assert read_campaign_promise({"description": changed}).digest != digest_by_hand(DESCRIPTION)


@pytest.mark.parametrize(
    "changed",
    [
        {"id": 7},
        {"id": "campaign"},
        {"consent": None},
        {"consent": {"version": "1"}},
        {"consent": {"version": "1", "text": "\ud800"}},
        {"parameters": {"epsilon": 4, "delta": "1e-05"}},
        {"parameters": {"epsilon": "nan", "delta": "1e-05"}},
        {"parameters": {"epsilon": "4.0"}},
        {"name": "\ud800"},
    ],
)
def test_what_is_no_description_is_refused_without_its_content(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refusal:
        read_campaign_promise({"description": {**DESCRIPTION, **changed}})
    assert "I agree" not in str(refusal.value)


@pytest.mark.parametrize("answer", [{}, {"description": None}, {"description": []}])
def test_an_answer_without_one_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read_campaign_promise(answer)
