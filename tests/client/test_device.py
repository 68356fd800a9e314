"""A device reports once per campaign, contributes with consent, and sends the same bytes again."""

import json
import stat
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.conftest import MakeDevice
from client.stand_in import (
    CAMPAIGN,
    CONSENT,
    LOCAL_ALG,
    OTHER_CAMPAIGN,
    Clock,
    StandIn,
    head_list,
    problem,
)

from blender_dp.client import ClientPolicy, ServiceRefusalError, UnreachableError
from blender_dp.client.ledger.ledger import Ledger
from blender_dp.client.ledger.rows import LedgerError
from blender_dp.client.reports.reporting import FINAL_ANSWERS
from blender_dp.core.errors import BlenderError, InputError
from blender_dp.core.head_list.head_list import Record
from blender_dp.wire.reports.service_report import ReportReader
from blender_dp.wire.service.contribution import read_contribution

ANYTHING = ("query 001", "1.example")
ANSWERS = json.loads(
    (Path(__file__).parents[2] / "test_vectors" / "final_answers.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("mechanism", [None, LOCAL_ALG], ids=["subset-selection", "local-alg"])
def test_what_a_device_sends_is_what_a_server_reads(
    service: StandIn, make_device: MakeDevice, mechanism: object
) -> None:
    listed = head_list() if mechanism is None else head_list(mechanism=LOCAL_ALG)
    service.publish(listed)
    kept = make_device().report(CAMPAIGN, *ANYTHING)
    assert kept.state == "sent"
    [body] = service.bodies
    assert body == kept.body
    document, reader = json.loads(body), ReportReader(listed)
    reader.require_shared(document["version"], document["head_list"], document["mechanism"])
    ids = reader.ids([document["report_id"]])
    answers = (
        reader.cells([document["cell"]])
        if "cell" in document
        else reader.subsets(ids, [document["question"]], [document["items"]])
    )
    assert len(answers) == 1


def test_a_second_call_draws_nothing_and_sends_nothing(
    service: StandIn, make_device: MakeDevice
) -> None:
    first = make_device().report(CAMPAIGN, *ANYTHING)
    again = make_device().report(CAMPAIGN, "query 002", "2.example")
    assert (again.body, again.state) == (first.body, "sent")
    assert len(service.bodies) == 1


def test_a_person_without_a_record_reports_too(service: StandIn, make_device: MakeDevice) -> None:
    make_device().report(CAMPAIGN, None, None)
    assert len(service.bodies) == 1


def test_a_lost_report_is_sent_again_to_the_letter(
    service: StandIn, make_device: MakeDevice
) -> None:
    service.report_answers = [(503, {}, {})] * 3
    device = make_device()
    with pytest.raises(UnreachableError, match="the service is busy; try again later"):
        device.report(CAMPAIGN, *ANYTHING)
    [kept] = device.ledger().reports
    assert (kept.state, service.bodies) == ("unsent", [])
    [sent] = make_device().resend()
    assert sent.state == "sent"
    assert service.bodies == [kept.body]
    assert make_device().resend() == ()


def test_a_service_that_fails_is_tried_again_later(
    service: StandIn, make_device: MakeDevice
) -> None:
    service.report_answers = [(500, {}, {})]
    with pytest.raises(UnreachableError, match="failed"):
        make_device().report(CAMPAIGN, *ANYTHING)
    assert make_device().report(CAMPAIGN, None, None).state == "sent"


def test_the_same_answers_are_final_in_every_client() -> None:
    # A busy service never gets here: the transport tries again. The list must not name it even so.
    assert sorted(FINAL_ANSWERS) == ANSWERS["final"]
    assert not FINAL_ANSWERS & {*ANSWERS["not_final"], *ANSWERS["accepted"]}


@pytest.mark.parametrize("status", ANSWERS["final"])
def test_a_final_answer_ends_a_report(
    service: StandIn, make_device: MakeDevice, status: int
) -> None:
    service.report_answers = [(status, problem("x"), {})]
    device = make_device()
    with pytest.raises(ServiceRefusalError):
        device.report(CAMPAIGN, *ANYTHING)
    assert [kept.state for kept in device.ledger().reports] == ["refused"]
    assert device.resend() == ()


@pytest.mark.parametrize("status", ANSWERS["not_final"])
def test_any_other_refusal_leaves_the_report_to_be_sent_again(
    service: StandIn, make_device: MakeDevice, status: int
) -> None:
    service.report_answers = [(status, problem("x"), {})] * 3
    device = make_device()
    with pytest.raises(BlenderError):
        device.report(CAMPAIGN, *ANYTHING)
    [kept] = device.ledger().reports
    assert kept.state == "unsent"
    service.report_answers = []
    assert [sent.body for sent in device.resend()] == [kept.body]


@pytest.mark.parametrize("status", ANSWERS["accepted"])
def test_an_accepted_report_was_sent(
    service: StandIn, make_device: MakeDevice, status: int
) -> None:
    service.report_answers = [(status, {}, {})]
    assert make_device().report(CAMPAIGN, *ANYTHING).state == "sent"


def test_a_refused_report_is_not_sent_again_and_stays_spent(
    service: StandIn, make_device: MakeDevice
) -> None:
    service.report_answers = [(409, problem("campaign-not-collecting"), {})]
    device = make_device()
    with pytest.raises(ServiceRefusalError, match="campaign-not-collecting") as refused:
        device.report(CAMPAIGN, *ANYTHING)
    assert (refused.value.status, refused.value.problem) == (409, "campaign-not-collecting")
    assert device.resend() == ()
    assert device.report(CAMPAIGN, *ANYTHING).state == "refused"
    assert device.ledger().spent == 2.0


@pytest.mark.parametrize(
    "said", [{}, {"type": "urn:blender-dp:problem:<b>"}, {"type": 7}, [], {"type": "x" * 99}]
)
def test_what_a_service_says_is_not_repeated(
    service: StandIn, make_device: MakeDevice, said: object
) -> None:
    service.answers = [(404, said, {})]
    with pytest.raises(ServiceRefusalError, match="no reason given"):
        make_device().report(CAMPAIGN, *ANYTHING)


def test_the_ledger_adds_up_what_a_window_costs(make_device: MakeDevice, clock: Clock) -> None:
    device = make_device()
    for number in (1, 2, 3):
        device.report(UUID(int=number), *ANYTHING)
        clock.pass_days(10)
    spending = device.ledger()
    assert (spending.spent, spending.left) == (6.0, 2.0)
    clock.pass_days(60.5)  # the first is 90.5 days old
    assert (device.ledger().spent, device.ledger().left) == (4.0, 4.0)
    assert [Fraction(kept.epsilon) for kept in device.ledger().reports] == [2, 2, 2]


def test_a_report_from_the_future_counts(make_device: MakeDevice, clock: Clock) -> None:
    make_device().report(CAMPAIGN, *ANYTHING)
    clock.pass_days(-400)
    assert make_device().ledger().spent == 2.0
    with pytest.raises(BlenderError, match="less than 7 days old"):
        make_device().report(OTHER_CAMPAIGN, *ANYTHING)


def test_contributing_takes_consent_to_the_very_text(
    service: StandIn, make_device: MakeDevice
) -> None:
    service.state = "opt-in-open"
    device = make_device()
    device.enrol(CAMPAIGN)
    with pytest.raises(BlenderError, match="agreed to another text"):
        device.contribute(CAMPAIGN, [Record("weather", "w.example")], agreed="something else")
    assert service.uploads == []
    device.contribute(CAMPAIGN, [Record("weather", "w.example")], agreed=CONSENT)
    [upload] = service.uploads
    read = read_contribution(json.loads(upload))
    assert read.records == (Record("weather", "w.example"),)
    assert service.requests[-1][2] == "Bearer " + "t" * 43


def test_a_repeated_contribution_is_the_same_to_the_letter(
    service: StandIn, make_device: MakeDevice, clock: Clock
) -> None:
    service.state = "opt-in-open"
    make_device().enrol(CAMPAIGN)
    make_device().contribute(CAMPAIGN, [], agreed=CONSENT)
    clock.pass_days(1)
    make_device().contribute(CAMPAIGN, [], agreed=CONSENT)
    first, second = service.uploads
    assert first == second


def test_a_device_enrols_once(service: StandIn, make_device: MakeDevice) -> None:
    make_device().enrol(CAMPAIGN)
    make_device().enrol(CAMPAIGN)
    assert len(service.requests) == 1


def test_an_operators_token_needs_no_request(service: StandIn, make_device: MakeDevice) -> None:
    make_device().enrol(CAMPAIGN, "given")
    assert service.requests == []
    make_device().withdraw(CAMPAIGN)
    assert service.requests == [("DELETE", f"/v1/campaigns/{CAMPAIGN}/opt-in", "Bearer given")]


def test_withdrawal_is_for_good(make_device: MakeDevice) -> None:
    device = make_device()
    with pytest.raises(BlenderError, match="not enrolled"):
        device.withdraw(CAMPAIGN)
    device.enrol(CAMPAIGN)
    device.withdraw(CAMPAIGN)
    with pytest.raises(BlenderError, match="withdrew"):
        device.contribute(CAMPAIGN, [], agreed=CONSENT)


def test_records_that_break_a_rule_never_leave(service: StandIn, make_device: MakeDevice) -> None:
    service.state = "opt-in-open"
    device = make_device()
    device.enrol(CAMPAIGN)
    with pytest.raises(InputError, match="record 0"):
        device.contribute(CAMPAIGN, [Record("", "w.example")], agreed=CONSENT)
    assert service.uploads == []


@pytest.mark.parametrize("token", [None, "", 7, "é"])
def test_an_enrolment_without_a_token_is_none(
    service: StandIn, make_device: MakeDevice, token: object
) -> None:
    service.answers = [(201, {"token": token}, {})]
    with pytest.raises(BlenderError, match="no enrolment token"):
        make_device().enrol(CAMPAIGN)


def test_only_the_owner_can_read_the_ledger(make_device: MakeDevice, tmp_path: Path) -> None:
    make_device()
    assert stat.S_IMODE((tmp_path / "device").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "device" / "ledger.sqlite").stat().st_mode) == 0o600


def test_a_ledger_that_cannot_be_read_stops_everything(
    service: StandIn, make_device: MakeDevice, tmp_path: Path
) -> None:
    device = make_device()
    (tmp_path / "device" / "ledger.sqlite").write_bytes(b"no database" * 200)
    with pytest.raises(LedgerError, match="cannot be used"):
        device.report(CAMPAIGN, *ANYTHING)
    assert service.requests == []


def test_a_ledger_of_another_version_is_left_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, lambda _: None)
    with ledger._transaction() as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(LedgerError, match="another version"):
        Ledger(tmp_path, lambda _: None)


def test_a_directory_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LedgerError, match="cannot be written"):
        Ledger(tmp_path / "file", lambda _: None)


def test_looking_at_a_list_spends_nothing(service: StandIn, make_device: MakeDevice) -> None:
    device = make_device(policy=ClientPolicy(most_epsilon=0.5))
    assert device.head_list(CAMPAIGN).digest == service.lists[CAMPAIGN]["head_list"]["digest"]
    assert device.ledger().spent == 0


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"public_key": "short"}, "key must be 32 bytes"),
        ({"smallest_list": 0}, "smallest_list must be 1 or more"),
        ({"most_epsilon": float("nan")}, "most_epsilon must be a finite number"),
        ({"most_epsilon": 0.0}, "most_epsilon must be a finite number"),
        ({"window": timedelta(days=-1)}, "window must be 0 or longer"),
        ({"shortest_interval": timedelta(seconds=-1)}, "shortest_interval must be 0 or longer"),
    ],
)
def test_a_policy_has_rules_too(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(BlenderError, match=rule):
        ClientPolicy(**options)
