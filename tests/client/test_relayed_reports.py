"""A device reports through a relay: encrypted for the collector, drawn once, debited twice."""

import json
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from client.conftest import MakeDevice
from client.stand_in import (
    CAMPAIGN,
    CONSENT,
    DECRYPTION_KEY,
    OTHER_CAMPAIGN,
    RELAYED,
    Clock,
    InProcess,
    StandIn,
    head_list,
    problem,
)

from blender_dp.client import BlenderClient, ClientPolicy, RefusedError, Rule, ServiceRefusalError
from blender_dp.client.ledger.rows import LedgerRow, costs_since, relay_cost_since
from blender_dp.client.reports.reporting import _draw_relayed
from blender_dp.client.transport import UnreachableError
from blender_dp.core.errors import BlenderError
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.wire.relayed.encrypted_report import RelayedReport, ReportEncryption
from blender_dp.wire.reports.packed_items import from_text
from blender_dp.wire.service.signed_head_list import read_signed_head_list

ANYTHING = ("query 001", "1.example")
ROOT = Path(__file__).parents[2]
ANSWERS = json.loads((ROOT / "test_vectors" / "final_answers.json").read_text(encoding="utf-8"))


@pytest.fixture
def listed(service: StandIn) -> HeadList:
    return service.publish_for_relay()


def read(service: StandIn, listed: HeadList, body: bytes) -> RelayedReport:
    """Read a relayed report as the collector does."""
    digest = service.lists[CAMPAIGN]["head_list"]["digest"]
    encryption = ReportEncryption(listed, campaign=CAMPAIGN, digest=digest)
    document = json.loads(body)
    assert set(document) == {"version", "head_list", "encryption_key", "report"}
    assert document["encryption_key"] == service.lists[CAMPAIGN]["relay"]["encryption_key"]
    assert (document["version"], document["head_list"]) == (1, digest)
    encrypted = from_text(document["report"], encryption.length)
    assert encrypted is not None
    return encryption.decrypt(encrypted, DECRYPTION_KEY)


def test_the_relay_gets_what_only_the_collector_reads(
    service: StandIn, make_device: MakeDevice, listed: HeadList
) -> None:
    kept = make_device().report(CAMPAIGN, *ANYTHING, through_relay=True)
    assert (kept.role, kept.state, kept.relay) == ("relayed", "sent", f"{service.url}/relay/")
    assert (service.relayed, service.bodies) == ([kept.body], [])
    report = read(service, listed, kept.body)
    assert 0 <= report.cell < listed.cells.cell_count
    assert len(report.report_id) == 16


def test_the_noise_of_a_relayed_report_is_that_of_its_own_channel(service: StandIn) -> None:
    """With ε0 = 40 a report lies with probability 120·e^-40 < 10⁻¹⁵; a local one lies often."""
    listed = service.publish_for_relay(replace(RELAYED, report_epsilon=40.0))
    signed = read_signed_head_list(service.lists[CAMPAIGN])
    assert signed.relay is not None
    for record in (Record(*ANYTHING), Record("query 001", "unlisted"), None):
        body = _draw_relayed(signed, signed.relay, record, None)
        cell = read(service, listed, body).cell
        assert cell == listed.cell_index().cell(*record or (None, None))


def test_both_costs_are_debited_before_anything_is_sent(tmp_path: Path) -> None:
    service = StandIn()
    service.publish_for_relay()
    transport = InProcess(service)
    found: list[tuple[Any, ...]] = []

    def look(method: str, _path: str) -> None:
        if method == "POST":
            other = sqlite3.connect(tmp_path / "ledger.sqlite", timeout=0)
            other.execute("BEGIN IMMEDIATE")
            rows = "SELECT role, epsilon, delta, relay_epsilon, state, relay, body FROM debits"
            found.extend(other.execute(rows).fetchall())
            other.close()

    transport.on_send = look
    kept = BlenderClient("https://a.example", tmp_path, transport=transport).report(
        CAMPAIGN, *ANYTHING, through_relay=True
    )
    costs = ("relayed", "2.000000", "1/200000", "6.000000")
    assert found == [(*costs, "unsent", "https://relay.example/", kept.body)]


def test_what_is_left_is_told(make_device: MakeDevice, listed: HeadList, clock: Clock) -> None:
    assert listed
    device = make_device()
    kept = device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    spending = device.ledger()
    assert spending.relayed == (replace(kept, state="sent"),)
    assert (spending.reports, spending.contributions) == ((), ())
    assert (spending.spent, spending.left) == (2.0, 6.0)
    assert (spending.relay_spent, spending.relay_left) == (6.0, 10.0)
    clock.pass_days(90)
    spending = device.ledger()
    assert (spending.spent, spending.relay_spent, spending.relay_left) == (0.0, 0.0, 16.0)


def test_the_delta_of_relayed_reports_adds_up() -> None:
    """A report in a batch has (ε, δ), not a pure ε as a local one."""
    start = Clock()()
    row = LedgerRow(
        campaign=CAMPAIGN,
        role="relayed",
        service="https://a.example",
        epsilon="2",
        delta="1/10",
        relay_epsilon="6",
        time=start,
        body=b"",
    )
    day = start.replace(day=1)
    assert costs_since([row, row], day) == (Fraction(4), Fraction(1, 5))
    assert relay_cost_since([row, row], day) == 12
    assert relay_cost_since([row, row], start) == 0


def test_the_delta_of_a_window_is_within_its_cap(
    service: StandIn, make_device: MakeDevice, clock: Clock
) -> None:
    policy = ClientPolicy(most_delta=1.4e-5, most_relay_total=64.0)
    for number in (1, 2):
        service.publish_for_relay(campaign=UUID(int=number))
        make_device(policy=policy).report(UUID(int=number), None, None, through_relay=True)
        clock.pass_days(8)
    service.publish_for_relay(campaign=UUID(int=3))
    with pytest.raises(RefusedError, match="δ of all contributions and relayed reports") as refusal:
        make_device(policy=policy).report(UUID(int=3), None, None, through_relay=True)
    assert refusal.value.rule is Rule.BUDGET


def test_a_second_call_draws_nothing_and_sends_nothing(
    service: StandIn, make_device: MakeDevice, listed: HeadList
) -> None:
    assert listed
    first = make_device().report(CAMPAIGN, *ANYTHING, through_relay=True)
    again = make_device().report(CAMPAIGN, "query 002", "2.example", through_relay=True)
    assert (again.body, again.state) == (first.body, "sent")
    assert len(service.relayed) == 1


def test_a_lost_report_is_sent_again_to_the_letter(
    service: StandIn, make_device: MakeDevice, listed: HeadList
) -> None:
    assert listed
    service.relay_answers = [(503, {}, {})] * 3
    with pytest.raises(UnreachableError):
        make_device().report(CAMPAIGN, *ANYTHING, through_relay=True)
    [kept] = make_device().ledger().relayed
    assert (kept.state, service.relayed) == ("unsent", [])
    [sent] = make_device().resend()
    assert (sent.state, service.relayed) == ("sent", [kept.body])
    assert make_device().resend() == ()


def test_an_unanswered_report_that_is_refused_later_is_uncertain(tmp_path: Path) -> None:
    service = StandIn()
    service.publish_for_relay()
    transport = InProcess(service)
    device = BlenderClient("https://a.example", tmp_path, transport=transport)
    transport.lost = ["POST"]
    with pytest.raises(UnreachableError):
        device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    service.relay_answers = [(409, problem("campaign-not-collecting"), {})]
    with pytest.raises(ServiceRefusalError):
        device.resend()
    assert [row.state for row in device.ledger().relayed] == ["uncertain"]


@pytest.mark.parametrize("status", ANSWERS["final"])
def test_a_final_answer_of_the_relay_ends_a_report(
    service: StandIn, make_device: MakeDevice, listed: HeadList, status: int
) -> None:
    assert listed
    service.relay_answers = [(status, problem("x"), {})]
    device = make_device()
    with pytest.raises(ServiceRefusalError):
        device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    assert [kept.state for kept in device.ledger().relayed] == ["refused"]
    assert device.resend() == ()
    assert (device.ledger().spent, device.ledger().relay_spent) == (2.0, 6.0)  # never returned


@pytest.mark.parametrize("status", ANSWERS["not_final"])
def test_any_other_refusal_leaves_the_report_to_be_sent_again(
    service: StandIn, make_device: MakeDevice, listed: HeadList, status: int
) -> None:
    assert listed
    service.relay_answers = [(status, problem("x"), {})] * 3
    device = make_device()
    with pytest.raises(BlenderError):
        device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    [kept] = device.ledger().relayed
    service.relay_answers = []
    assert [sent.body for sent in device.resend()] == [kept.body]


def test_a_forgotten_report_is_not_drawn_again(
    service: StandIn, make_device: MakeDevice, listed: HeadList, tmp_path: Path
) -> None:
    assert listed
    service.relay_answers = [(503, {}, {})] * 3
    device = make_device()
    with pytest.raises(UnreachableError):
        device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    [kept] = device.ledger().relayed
    device.forget()
    with pytest.raises(RefusedError, match="deleted its report"):
        device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    assert kept.body not in (tmp_path / "device" / "ledger.sqlite").read_bytes()
    assert device.ledger().relay_spent == 6.0


def test_a_person_is_in_one_group(
    service: StandIn, make_device: MakeDevice, listed: HeadList, clock: Clock
) -> None:
    assert listed
    service.publish_for_relay(campaign=OTHER_CAMPAIGN)
    device = make_device(policy=ClientPolicy(most_epsilon=64.0, most_delta=0.5))
    device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    clock.pass_days(8)
    with pytest.raises(RefusedError, match="no second report") as refusal:
        device.report(CAMPAIGN, *ANYTHING)
    assert refusal.value.rule is Rule.ROLE
    device.report(OTHER_CAMPAIGN, *ANYTHING)
    clock.pass_days(8)
    with pytest.raises(RefusedError, match="no second report"):
        device.report(OTHER_CAMPAIGN, *ANYTHING, through_relay=True)
    service.state = "opt-in-open"
    device.enrol(CAMPAIGN)
    with pytest.raises(RefusedError, match="does not contribute as well"):
        device.contribute(CAMPAIGN, [], agreed=CONSENT)
    assert (len(service.relayed), len(service.bodies), service.uploads) == (1, 1, [])


def test_who_contributed_does_not_report_through_a_relay(
    service: StandIn, make_device: MakeDevice, listed: HeadList
) -> None:
    assert listed
    device = make_device(policy=ClientPolicy(most_epsilon=64.0, most_delta=0.5))
    service.state = "opt-in-open"
    device.enrol(CAMPAIGN)
    device.contribute(CAMPAIGN, [], agreed=CONSENT)
    service.state = "clients-open"
    with pytest.raises(RefusedError, match="contributed to the campaign"):
        device.report(CAMPAIGN, *ANYTHING, through_relay=True)
    service.state = "opt-in-open"
    device.withdraw(CAMPAIGN)
    service.state = "clients-open"
    assert device.report(CAMPAIGN, *ANYTHING, through_relay=True).state == "sent"


def test_a_relayed_report_is_a_report_to_its_service(
    service: StandIn, make_device: MakeDevice, listed: HeadList, clock: Clock
) -> None:
    """The shortest interval holds between reports of either kind."""
    assert listed
    make_device().report(CAMPAIGN, *ANYTHING, through_relay=True)
    clock.pass_days(6.9)
    with pytest.raises(RefusedError, match="less than 7 days old"):
        make_device().report(OTHER_CAMPAIGN, *ANYTHING)
    service.publish_for_relay(campaign=OTHER_CAMPAIGN)
    with pytest.raises(RefusedError, match="less than 7 days old"):
        make_device().report(OTHER_CAMPAIGN, *ANYTHING, through_relay=True)


def test_a_campaign_without_a_relay_gets_no_relayed_report(
    service: StandIn, make_device: MakeDevice
) -> None:
    service.publish(head_list())
    with pytest.raises(RefusedError, match="the campaign has no relay") as refusal:
        make_device().report(CAMPAIGN, *ANYTHING, through_relay=True)
    assert refusal.value.rule is Rule.RELAY
    assert make_device().ledger().spent == 0


def test_a_local_client_reports_to_a_campaign_with_a_relay(
    service: StandIn, make_device: MakeDevice, listed: HeadList
) -> None:
    assert listed.relay == RELAYED
    kept = make_device().report(CAMPAIGN, *ANYTHING)
    assert (kept.role, kept.relay) == ("report", None)
    assert Fraction(kept.relay_epsilon) == 0
    assert (len(service.bodies), service.relayed) == (1, [])


@pytest.mark.parametrize("name", ["most_relay_epsilon", "most_relay_total"])
@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(name: str, value: float) -> None:
    with pytest.raises(BlenderError, match=f"{name} must be a finite number above 0"):
        ClientPolicy(**{name: value})  # type: ignore[arg-type]
