"""A release with a relay on the dashboard: three groups, or one sentence why there are two."""

import hashlib
import os
from collections.abc import Callable
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from dashboard.conftest import OpenPage
from dashboard.live_service import (
    POPULAR,
    LiveService,
    move,
    new_campaign,
    opt_in,
    popular,
    send_reports,
    wait_for_state,
)
from dashboard.test_for_everybody import violations
from playwright.sync_api import expect
from service.running import a_relay

from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.wire.relayed.batch import Destroyed, Forwarded, piece_document, statement_document
from blender_dp.wire.relayed.encrypted_report import RelayedReport, ReportEncryption
from blender_dp.wire.service.signatures import public_key_of
from blender_dp.wire.service.signed_head_list import SignedHeadList, read_signed_head_list

pytestmark = pytest.mark.browser
BATCH = 400
"""Relay clients, as many as a batch must have."""
SENTENCE = (
    "The relay destroyed the 12 reports that it had, which were too few to hide each other, "
    "so no relay client is in the result."
)
Statement = Callable[[SignedHeadList, Ed25519PrivateKey], dict[str, object]]


def batch(signed: SignedHeadList, key: Ed25519PrivateKey) -> dict[str, object]:
    """Return a whole batch, in one piece."""
    assert signed.relay is not None
    encryption = ReportEncryption(signed.head_list, campaign=signed.campaign, digest=signed.digest)
    reports = []
    for number in range(BATCH):
        name = os.urandom(16)
        device = LocalRandomizer(signed.head_list.for_relay(), campaign_id=name)
        (cell,) = device.report(*POPULAR[popular(number)]).items
        report = RelayedReport(report_id=name, cell=int(cell))
        reports.append(encryption.encrypt(report, signed.relay.encryption_key))
    statement = Forwarded(
        campaign=UUID(str(signed.campaign)),
        head_list=signed.digest,
        count=BATCH,
        pieces=1,
        digest="sha256:" + hashlib.sha256(b"".join(reports)).hexdigest(),
    )
    return piece_document(statement_document(statement, key), 0, reports)


def too_few(signed: SignedHeadList, key: Ed25519PrivateKey) -> dict[str, object]:
    """Return the statement of a relay that destroyed its reports."""
    campaign = UUID(str(signed.campaign))
    return statement_document(Destroyed(campaign=campaign, head_list=signed.digest, count=12), key)


def relayed_campaign(service: LiveService, name: str, statement: Statement) -> str:
    """Take a campaign with a relay from draft to release."""
    key = Ed25519PrivateKey.generate()
    relay = a_relay(public_key=public_key_of(key), least_batch=BATCH)
    with service.http as http:
        made = http.post("/campaigns", json={**new_campaign(name), "relay": relay})
        campaign = str(made.json()["id"])
    move(service, campaign, "open-opt-in", "draft")
    opt_in(service, campaign)
    move(service, campaign, "seal-opt-in", "opt-in-open")
    wait_for_state(service, campaign, "list-published")
    move(service, campaign, "open-clients", "list-published")
    send_reports(service, campaign)
    move(service, campaign, "seal-clients", "clients-open")
    with service.http as http:
        signed = read_signed_head_list(http.get(f"/campaigns/{campaign}/head-list").json())
        answer = http.post(f"/campaigns/{campaign}/relayed-reports", json=statement(signed, key))
        assert answer.status_code == 202, answer.text
    wait_for_state(service, campaign, "released")
    return campaign


def test_three_groups_have_weights_and_are_compared(
    service: LiveService, open_page: OpenPage
) -> None:
    campaign = relayed_campaign(service, "With a relay", batch)
    page = open_page(f"#/campaigns/{campaign}/release")
    weights = page.locator(".card", has_text="decide most")
    expect(weights.locator(".legend-item")).to_have_text(
        ["Opt-in users", "Relay clients", "Clients"]
    )
    expect(weights).to_contain_text("The share of each group in each blended estimate")
    expect(weights.locator("svg.plot")).to_be_visible()
    compared = page.get_by_role("heading", name="Relay clients and local clients")
    expect(compared).to_be_visible()
    expect(page.get_by_role("heading", name="To relay clients")).to_have_count(2)


def test_a_batch_that_was_destroyed_is_told_on_every_page(
    service: LiveService, open_page: OpenPage
) -> None:
    campaign = relayed_campaign(service, "Destroyed", too_few)
    page = open_page(f"#/campaigns/{campaign}/release")
    expect(page.locator(".summary .callout")).to_have_text(SENTENCE)
    certificate = page.locator(".card", has_text="Every promise is kept")
    expect(certificate).to_contain_text(SENTENCE)
    expect(page.get_by_role("heading", name="To relay clients")).to_have_count(0)
    expect(page.locator(".card", has_text="decide most").locator(".legend")).to_have_count(0)
    page = open_page(f"#/campaigns/{campaign}")
    told = "too few reports (12) and destroyed them, so no relay client is in the release."
    expect(page.get_by_text(told)).to_be_visible()
    expect(page.get_by_text("Counted in the release")).to_have_count(0)


def test_a_prediction_shows_both_without_a_relay_and_with_it(open_page: OpenPage, axe: str) -> None:
    page = open_page("#/new")
    page.get_by_label("Opt-in users expected").fill("2000")
    page.get_by_label("Clients expected").fill("20000")
    page.get_by_text("Reports through a relay").click()
    page.get_by_label("Cap", exact=True).fill("6")
    page.get_by_label("Clients who would use it, in %").fill("50")
    page.get_by_role("button", name="Predict").click()
    table = page.get_by_role("table", name="Predicted measures")
    expect(table.get_by_role("columnheader")).to_contain_text(
        ["Measure", "Without a relay", "With"], timeout=60_000
    )
    expect(page.locator("aside .footnote")).to_contain_text(
        "Through the relay: 10,000 clients; ε = 4"
    )
    page.set_viewport_size({"width": 360, "height": 900})  # whoever has no mouse can scroll it
    region = page.get_by_role("region", name="Table: Predicted measures")
    region.focus()
    expect(region).to_be_focused()
    assert violations(page, axe) == []
