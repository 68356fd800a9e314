"""Tokens of a device: asked for once, kept with the report, sent at another time."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.conftest import MakeDevice
from client.stand_in import (
    CAMPAIGN,
    CONSENT,
    DECRYPTION_KEY,
    START,
    TOKEN_KEY,
    Clock,
    StandIn,
    problem,
)

from blender_dp.client import BlenderClient, ClientPolicy, RefusedError, ServiceRefusalError
from blender_dp.client.campaign_checks import FetchedList
from blender_dp.client.policy import History, Rule
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.wire.published.head_list import head_list_digest
from blender_dp.wire.relayed.encrypted_report import ReportEncryption
from blender_dp.wire.reports.packed_items import from_text, to_text
from blender_dp.wire.reports.service_report import ReportReader, question_of, report_id_of
from blender_dp.wire.service.campaign_promise import read_campaign_promise
from blender_dp.wire.service.signed_head_list import read_signed_head_list
from blender_dp.wire.tokens.report_token import TOKEN_BYTES, TokenRules, token_rules

RECORD = ("query 001", "1.example")
AT_ONCE = ClientPolicy(token_delay=timedelta())
VECTORS = json.loads(
    (Path(__file__).parents[2] / "test_vectors" / "report_tokens.json").read_text(encoding="utf-8")
)


class KilledError(Exception):
    """The device stopped here."""


def rules_of(listed: HeadList) -> TokenRules:
    rules = token_rules(listed, CAMPAIGN)
    assert rules is not None
    return rules


def enrolled(device: BlenderClient) -> BlenderClient:
    device.enrol(CAMPAIGN)
    return device


def test_a_report_carries_its_token(service: StandIn, make_device: MakeDevice) -> None:
    listed = service.publish_with_tokens()
    kept = enrolled(make_device(policy=AT_ONCE)).report(CAMPAIGN, *RECORD)
    assert (kept.state, service.bodies) == ("sent", [kept.body])
    document = json.loads(kept.body)
    assert "report_id" not in document
    reader = ReportReader(listed, rules_of(listed))
    report_id, unread = reader.subset(document["token"], document["question"], document["items"])
    token = from_text(document["token"], TOKEN_BYTES)
    assert token is not None
    assert report_id == report_id_of(token)
    [answer], wrong = reader.singles([unread])
    assert (answer.question, len(wrong)) == (question_of(report_id, listed), 0)
    assert len(service.token_requests) == 1
    asked = [request for request in service.requests if "report-token" in request[1]]
    assert asked[0][2] == f"Bearer {'t' * 43}"
    assert all(request[2] is None for request in service.requests if "/reports" in request[1])


def test_a_relayed_report_has_its_token_inside(service: StandIn, make_device: MakeDevice) -> None:
    listed = service.publish_with_tokens(has_relay=True)
    enrolled(make_device(policy=AT_ONCE)).report(CAMPAIGN, *RECORD, through_relay=True)
    (body,) = service.relayed
    encryption = ReportEncryption(listed, campaign=CAMPAIGN, digest=head_list_digest(listed))
    encrypted = from_text(json.loads(body)["report"], encryption.length)
    assert encrypted is not None
    report = encryption.decrypt(encrypted, DECRYPTION_KEY)
    assert report.token is not None
    assert rules_of(listed).is_valid(report.token)


def test_a_report_is_sent_when_its_time_has_come(
    service: StandIn, make_device: MakeDevice, clock: Clock
) -> None:
    service.publish_with_tokens()
    device = enrolled(make_device())
    service.state = "list-published"
    after = device.fetch_token(CAMPAIGN)
    assert after is not None
    assert START <= after <= START + timedelta(days=1)
    assert device.fetch_token(CAMPAIGN) == after
    service.state = "clients-open"
    clock.time = after - timedelta(seconds=1)
    kept = device.report(CAMPAIGN, *RECORD)
    assert (kept.state, service.bodies, device.resend()) == ("unsent", [], ())
    clock.time = after
    (sent,) = device.resend()
    assert (sent.state, service.bodies) == ("sent", [kept.body])
    assert len(service.token_requests) == 1


def test_the_time_is_random_and_leaves_half_of_what_is_left(
    service: StandIn, make_device: MakeDevice
) -> None:
    """20 uniform times in 12 hours: all in the same half with probability 2^-19."""
    times = []
    for number in range(20):
        campaign = UUID(int=number + 1)
        until = (START + timedelta(hours=24)).isoformat()
        service.publish_with_tokens(campaign=campaign, rules={"clients_until": until})
        device = make_device()
        device.enrol(campaign)
        after = device.fetch_token(campaign)
        assert after is not None
        times.append(after - START)
    assert all(timedelta() <= time <= timedelta(hours=12) for time in times)
    assert min(times) < timedelta(hours=6) < max(times)


def test_a_lost_answer_is_asked_for_again_with_the_same_bytes(
    service: StandIn, make_device: MakeDevice
) -> None:
    service.publish_with_tokens()
    device = enrolled(make_device(policy=AT_ONCE))
    service.token_answers = [(503, {}, {})] * 3
    with pytest.raises(BlenderError, match="busy"):
        device.report(CAMPAIGN, *RECORD)
    assert device.ledger().reports == ()
    assert device.report(CAMPAIGN, *RECORD).state == "sent"
    assert len(service.token_requests) == 4
    assert len(set(service.token_requests)) == 1


def test_an_issuer_that_answers_late_does_not_see_the_report_follow(
    service: StandIn, make_device: MakeDevice, clock: Clock
) -> None:
    """The report waits from the answer on; fails falsely once in 86 million runs."""
    service.publish_with_tokens()
    device = enrolled(make_device())
    service.token_answers = [(503, {}, {})] * 3
    with pytest.raises(BlenderError, match="busy"):
        device.fetch_token(CAMPAIGN)
    clock.time = START + timedelta(days=3)
    after = device.fetch_token(CAMPAIGN)
    assert after is not None
    assert clock.time < after <= clock.time + timedelta(days=1)


@pytest.mark.parametrize("point", ["before-token", "after-token", "after-draw", "before-send"])
def test_a_device_that_is_killed_asks_for_no_second_token(
    service: StandIn, make_device: MakeDevice, point: str
) -> None:
    service.publish_with_tokens()

    def stop(here: str) -> None:
        if here == point:
            raise KilledError

    with pytest.raises(KilledError):
        enrolled(make_device(policy=AT_ONCE, checkpoint=stop)).report(CAMPAIGN, *RECORD)
    assert make_device(policy=AT_ONCE).report(CAMPAIGN, *RECORD).state == "sent"
    assert len(set(service.token_requests)) == 1
    assert len(service.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [{}, {"response": 7}, {"response": "★"}, {"response": to_text(bytes(256))}],
    ids=["nothing", "a number", "no letters", "no signature"],
)
def test_an_answer_that_is_not_signed_with_the_list_s_key_is_refused(
    service: StandIn, make_device: MakeDevice, answer: dict[str, Any]
) -> None:
    service.publish_with_tokens()
    device = enrolled(make_device(policy=AT_ONCE))
    service.token_answers = [(200, answer, {})]
    with pytest.raises(RefusedError, match="published key") as refused:
        device.report(CAMPAIGN, *RECORD)
    assert refused.value.rule is Rule.TOKEN
    assert (service.bodies, device.ledger().spent) == ([], 0)
    assert device.report(CAMPAIGN, *RECORD).state == "sent"
    assert len(set(service.token_requests)) == 1


@pytest.mark.parametrize("name", VECTORS["refused_by_description"])
def test_a_list_must_say_what_its_description_says(name: str) -> None:
    vector = VECTORS["refused_by_description"][name]
    fetched = FetchedList(
        signed=read_signed_head_list(vector["signed"]),
        document=vector["signed"],
        promise=read_campaign_promise({"description": vector["description"]}),
        state="clients-open",
    )
    with pytest.raises(RefusedError) as refused:
        fetched.require(fetched.signed.campaign, ClientPolicy(), History(public_key=None))
    assert refused.value.rule is Rule.TOKEN


def test_the_list_of_the_vectors_is_taken() -> None:
    signed, description = VECTORS["signed_head_list"], VECTORS["description"]
    fetched = FetchedList(
        signed=read_signed_head_list(signed),
        document=signed,
        promise=read_campaign_promise({"description": description}),
        state="clients-open",
    )
    fetched.require(fetched.signed.campaign, ClientPolicy(), History(public_key=None))


def test_who_contributed_asks_for_no_token(service: StandIn, make_device: MakeDevice) -> None:
    service.publish_with_tokens()
    service.state = "opt-in-open"
    device = enrolled(make_device(policy=ClientPolicy(most_epsilon=20.0)))
    device.contribute(CAMPAIGN, [Record("a", "b")], agreed=CONSENT)
    service.state = "clients-open"
    for ask in (device.fetch_token, lambda one: device.report(one, *RECORD)):
        with pytest.raises(RefusedError, match="contributed") as refused:
            ask(CAMPAIGN)
        assert refused.value.rule is Rule.ROLE
    assert service.token_requests == []


def test_who_is_not_enrolled_asks_for_no_token(service: StandIn, make_device: MakeDevice) -> None:
    service.publish_with_tokens()
    with pytest.raises(BlenderError, match="enrol first"):
        make_device().fetch_token(CAMPAIGN)
    assert service.token_requests == []


def test_a_refusal_is_told_and_nothing_is_spent(service: StandIn, make_device: MakeDevice) -> None:
    service.publish_with_tokens()
    device = enrolled(make_device(policy=AT_ONCE))
    service.token_answers = [(409, problem("token-issued-already"), {})]
    with pytest.raises(ServiceRefusalError, match="token-issued-already"):
        device.report(CAMPAIGN, *RECORD)
    assert device.ledger().spent == 0


def test_another_issuer_is_asked_with_the_credential_of_its_login(
    service: StandIn, make_device: MakeDevice
) -> None:
    issuer = {"address": f"{service.url}/", "public_key": TOKEN_KEY.text}
    service.publish_with_tokens(issuer=issuer)
    device = make_device(policy=AT_ONCE)
    with pytest.raises(BlenderError, match="login"):
        device.report(CAMPAIGN, *RECORD)
    assert device.fetch_token(CAMPAIGN, "a credential") is not None
    asked = [request for request in service.requests if "report-token" in request[1]]
    assert [request[2] for request in asked] == ["Bearer a credential"]
    assert device.report(CAMPAIGN, *RECORD).state == "sent"


def test_an_issuer_elsewhere_must_have_https(service: StandIn, make_device: MakeDevice) -> None:
    issuer = {"address": "http://issuer.example/", "public_key": TOKEN_KEY.text}
    service.publish_with_tokens(issuer=issuer)
    with pytest.raises(RefusedError, match="https"):
        make_device().fetch_token(CAMPAIGN, "a credential")


def test_an_open_campaign_needs_no_token(service: StandIn, make_device: MakeDevice) -> None:
    assert make_device().fetch_token(CAMPAIGN) is None
    assert service.token_requests == []


def test_forgetting_deletes_the_token(
    service: StandIn, make_device: MakeDevice, tmp_path: Path
) -> None:
    service.publish_with_tokens()
    device = enrolled(make_device(policy=AT_ONCE))
    device.fetch_token(CAMPAIGN)
    kept = device._ledger.token(CAMPAIGN)
    assert kept is not None
    assert kept.token is not None
    assert kept.secret == b""
    device.forget()
    assert device._ledger.token(CAMPAIGN) is None
    content = b"".join(path.read_bytes() for path in (tmp_path / "device").iterdir())
    assert kept.token not in content
