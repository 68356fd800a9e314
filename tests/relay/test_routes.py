"""Routes of the relay: what it takes, what it refuses, and what it shows to anybody."""

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from relay.running import CAMPAIGN, PATH, PUBLIC_KEY, Relay, running
from relay.stand_in_collector import StandInCollector

from blender_dp.relay.condition import Trouble
from blender_dp.relay.openapi import openapi_document
from blender_dp.relay.storage.store import BatchState
from blender_dp.server import campaign_lookups
from blender_dp.server.problems import Problem
from blender_dp.wire.relayed.encrypted_report import relayed_reports_document
from blender_dp.wire.reports.packed_items import to_text

pytestmark = pytest.mark.anyio
OTHER = UUID("00000000-0000-4000-8000-000000000002")


def slug_of(answer: Any) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    kind: str = answer.json()["type"]
    return kind.removeprefix("urn:blender-dp:problem:")


async def test_a_report_and_a_batch_are_accepted(relay: Relay) -> None:
    one = await relay.send(relay.collector.encrypt(1))
    assert (one.status_code, one.json()) == (202, {"accepted": 1, "repeated": 0})
    many = await relay.send(*(relay.collector.encrypt(i) for i in range(2, 300)))
    assert (many.status_code, many.json()) == (202, {"accepted": 298, "repeated": 0})
    assert (await relay.counts())["waiting"] == 299


async def test_a_compressed_batch_is_accepted(relay: Relay) -> None:
    sent = [relay.collector.encrypt(i) for i in range(50)]
    document = relayed_reports_document(
        relay.collector.digest, relay.collector.encryption_key, sent
    )
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    body = gzip.compress(json.dumps(document).encode())
    answer = await relay.http.post(f"{PATH}/reports", content=body, headers=headers)
    assert answer.json() == {"accepted": 50, "repeated": 0}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"version": 2}, Problem.UNKNOWN_REPORT_VERSION),
        ({"head_list": "sha256:" + "0" * 64}, Problem.ANOTHER_HEAD_LIST),
        ({"encryption_key": "A" * 43}, Problem.ANOTHER_ENCRYPTION_KEY),
        ({"encryption_key": ""}, Problem.ANOTHER_ENCRYPTION_KEY),
        ({"report": ""}, Problem.NOT_EXPRESSIBLE),
        ({"report": "A" * 87}, Problem.NOT_EXPRESSIBLE),
        ({"report": "A" * 88 + "="}, Problem.NOT_EXPRESSIBLE),
        ({"report": "!" * 88}, Problem.NOT_EXPRESSIBLE),
        ({"report": 7}, Problem.BODY_NOT_UNDERSTOOD),
        ({"reports": []}, Problem.BODY_NOT_UNDERSTOOD),
        ({"extra": 1}, Problem.BODY_NOT_UNDERSTOOD),
        ({"version": True}, Problem.BODY_NOT_UNDERSTOOD),
    ],
)
async def test_what_no_device_sends_is_refused(
    relay: Relay, changed: dict[str, Any], problem: Problem
) -> None:
    answer = await relay.send(relay.collector.encrypt(1), **changed)
    assert (answer.status_code, slug_of(answer)) == (problem.kind.status, problem.kind.slug)


@pytest.mark.parametrize(
    ("reports", "problem"),
    [
        ([], Problem.WRONG_NUMBER_OF_REPORTS),
        (["A" * 88] * 10_001, Problem.WRONG_NUMBER_OF_REPORTS),
        (["A" * 88, "A" * 87], Problem.NOT_EXPRESSIBLE),
        (["A" * 88, 1], Problem.BODY_NOT_UNDERSTOOD),
    ],
    ids=["none", "too many", "length", "number"],
)
async def test_a_wrong_batch_is_refused_as_a_whole(
    relay: Relay, reports: list[Any], problem: Problem
) -> None:
    shared = relayed_reports_document(relay.collector.digest, relay.collector.encryption_key, [])
    document = {**shared, "reports": reports}
    answer = await relay.http.post(f"{PATH}/reports", json=document)
    assert (answer.status_code, slug_of(answer)) == (problem.kind.status, problem.kind.slug)


async def test_a_key_may_come_once(relay: Relay) -> None:
    text = to_text(relay.collector.encrypt(1))
    shared = f'"head_list":"{relay.collector.digest}"'
    key = f'"encryption_key":"{relay.collector.encryption_key}"'
    body = f'{{"version":1,{shared},{key},"report":"A","report":"{text}"}}'
    headers = {"content-type": "application/json"}
    answer = await relay.http.post(f"{PATH}/reports", content=body, headers=headers)
    assert slug_of(answer) == "duplicate-key"


async def test_only_open_campaigns_of_this_relay_are_served(tmp_path: Path) -> None:
    stranger = Ed25519PrivateKey.from_private_bytes(bytes(32))
    cases = {
        "state": (StandInCollector(CAMPAIGN, PUBLIC_KEY), "campaign-not-collecting"),
        "early": (StandInCollector(CAMPAIGN, PUBLIC_KEY), "overloaded"),
        "relay": (StandInCollector(CAMPAIGN, to_text(bytes(32))), "unknown-campaign"),
        "other": (StandInCollector(OTHER, PUBLIC_KEY), "unknown-campaign"),
        "signature": (StandInCollector(CAMPAIGN, PUBLIC_KEY), "unknown-campaign"),
        "key": (StandInCollector(CAMPAIGN, PUBLIC_KEY, key=stranger), "unknown-campaign"),
    }
    cases["state"][0].state = "released"
    cases["early"][0].state = "list-published"
    cases["signature"][0].document["description"] = "sha256:" + "1" * 64
    expected = StandInCollector(CAMPAIGN, PUBLIC_KEY).document["public_key"]
    for name, (collector, slug) in cases.items():
        path = tmp_path / f"{name}.sqlite"
        async with running(path, collector, collector_key=expected) as relay:
            answer = await relay.send(collector.encrypt(1))
            assert slug_of(answer) == slug, name
            asked = len(collector.requests)
            await relay.send(collector.encrypt(1))
            assert len(collector.requests) == asked  # not asked again at once


async def test_who_asks_before_a_campaign_opens_loses_no_report(tmp_path: Path) -> None:
    """The answer is kept for seconds, so it must not be final for a device that comes meanwhile."""
    collector = StandInCollector(CAMPAIGN, PUBLIC_KEY)
    collector.state = "list-published"
    async with running(tmp_path / "relay.sqlite", collector) as relay:
        await relay.send(collector.encrypt(1))
        collector.state = "clients-open"
        answer = await relay.send(collector.encrypt(2))
        assert answer.status_code == 503
        assert "retry-after" in answer.headers


async def test_the_first_key_of_the_collector_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path / "relay.sqlite") as relay:
        assert (await relay.send(relay.collector.encrypt(1))).status_code == 202
    stranger = Ed25519PrivateKey.from_private_bytes(bytes(32))
    other = StandInCollector(OTHER, PUBLIC_KEY, key=stranger)
    async with running(tmp_path / "relay.sqlite", other) as relay:
        path = f"/v1/campaigns/{OTHER}/reports"
        answer = await relay.http.post(path, json={})
        assert slug_of(answer) == "unknown-campaign"


async def test_a_device_with_a_key_of_its_own_is_refused(relay: Relay) -> None:
    """A collector that gives one device another key could tell its report from all others."""
    answer = await relay.send(relay.collector.encrypt(1), encryption_key=to_text(bytes(32)))
    assert (answer.status_code, slug_of(answer)) == (422, "another-encryption-key")
    assert (await relay.counts())["waiting"] == 0


async def test_a_list_with_another_key_is_refused_for_good(tmp_path: Path) -> None:
    """The relay keeps the key of the first list: later ones with another key get no report."""
    async with running(tmp_path / "relay.sqlite") as relay:
        assert (await relay.send(relay.collector.encrypt(1))).status_code == 202
    other = StandInCollector(CAMPAIGN, PUBLIC_KEY, encryption_key=to_text(bytes(range(32))))
    async with running(tmp_path / "relay.sqlite", other) as relay:
        answer = await relay.send(other.encrypt(2))
        assert slug_of(answer) == "unknown-campaign"


async def test_a_collector_that_does_not_answer_is_no_refusal(tmp_path: Path) -> None:
    collector = StandInCollector(CAMPAIGN, PUBLIC_KEY)
    async with running(tmp_path / "relay.sqlite", collector) as relay:
        collector.failures = 1
        answer = await relay.send(collector.encrypt(1))
        assert (answer.status_code, slug_of(answer)) == (503, "overloaded")
        assert "retry-after" in answer.headers
        assert (await relay.send(collector.encrypt(1))).status_code == 202


@pytest.mark.parametrize("answer", [b"<html>sign in</html>", b"[]", b"{}", b'{"state": 7}'])
async def test_a_page_instead_of_the_collectors_answer_is_no_refusal(
    tmp_path: Path, answer: bytes
) -> None:
    collector = StandInCollector(CAMPAIGN, PUBLIC_KEY)
    async with running(tmp_path / "relay.sqlite", collector) as relay:
        collector.instead = answer
        refused = await relay.send(collector.encrypt(1))
        assert (refused.status_code, slug_of(refused)) == (503, "overloaded")
        assert not relay.lines.getvalue()  # a line would look like a defect of the relay
        collector.instead = None
        assert (await relay.send(collector.encrypt(1))).status_code == 202


async def test_reports_are_refused_while_nobody_knows_whether_it_is_open(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    await relay.fill(range(2))
    monkeypatch.setattr(campaign_lookups, "STALE_SECONDS", -1.0)
    relay.collector.failures = 1
    answer = await relay.send(relay.collector.encrypt(3))
    assert answer.status_code == 503


async def test_sealing_stops_the_intake(relay: Relay) -> None:
    await relay.fill(range(6))
    relay.collector.state = "clients-sealed"
    await relay.tick()
    answer = await relay.send(relay.collector.encrypt(9))
    assert slug_of(answer) == "campaign-not-collecting"


@pytest.fixture
async def shown(tmp_path: Path) -> AsyncIterator[Relay]:
    async with running(tmp_path / "relay.sqlite", directory=tmp_path) as relay:
        await relay.fill(range(3))
        yield relay


async def test_anybody_sees_the_counts(shown: Relay) -> None:
    page = (await shown.http.get("/")).text
    assert str(CAMPAIGN) in page
    assert '<td class="number">3</td>' in page
    assert PUBLIC_KEY in page
    assert (await shown.http.get("/page.css")).headers["content-type"].startswith("text/css")
    metrics = (await shown.http.get("/metrics")).text
    assert 'blender_dp_relay_reports_total{outcome="accepted"} 3.0' in metrics
    health = await shown.http.get("/health")
    assert (health.status_code, health.json()["status"]) == (200, "ok")
    assert (await shown.http.get("/openapi.json")).json() == openapi_document()


async def test_a_collector_that_is_gone_degrades_the_relay(shown: Relay) -> None:
    shown.app.forwarder.is_collector_reachable = False
    health = await shown.http.get("/health")
    assert health.json()["reasons"] == [Trouble.COLLECTOR_UNREACHABLE]
    assert health.status_code == 200  # reports are stored all the same


async def test_unknown_campaigns_and_missing_statements_are_said(shown: Relay) -> None:
    assert slug_of(await shown.http.get(f"/v1/campaigns/{OTHER}")) == "unknown-campaign"
    assert slug_of(await shown.http.get(f"{PATH}/statement")) == "not-published"
    assert slug_of(await shown.http.get("/v1/campaigns/x")) == "not-found"
    assert slug_of(await shown.http.get("/v2")) == "not-found"


async def test_every_documented_route_answers_and_names_its_methods(shown: Relay) -> None:
    for template, operations in openapi_document()["paths"].items():
        path = template.replace("{campaign_id}", str(CAMPAIGN))
        options = await shown.http.request("OPTIONS", path)
        assert options.status_code == 204
        allowed = {method.upper() for method in operations} | {"OPTIONS"}
        assert set(options.headers["allow"].split(", ")) == allowed
        wrong = await shown.http.request("DELETE", path)
        assert (wrong.status_code, wrong.headers["allow"]) == (405, options.headers["allow"])


async def test_pages_of_any_origin_may_report(shown: Relay) -> None:
    asked = await shown.http.request("OPTIONS", f"{PATH}/reports")
    assert asked.headers["access-control-allow-origin"] == "*"
    assert "content-type" in asked.headers["access-control-allow-headers"]
    sent = await shown.send(shown.collector.encrypt(9))
    assert sent.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in (await shown.http.get("/")).headers


def test_every_state_has_its_meaning_in_the_description() -> None:
    counts = openapi_document()["paths"]["/v1/campaigns/{campaign_id}"]["get"]
    schema = counts["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["properties"]["state"]["enum"] == [state.value for state in BatchState]
