"""Campaigns move by themselves when their rules say so."""

from typing import Any

import pytest
from service.running import Service

from blender_dp.service.jobs.ticker import Ticker

pytestmark = pytest.mark.anyio


def ticker_of(service: Service) -> Ticker:
    return Ticker(service.http._transport.app.service)  # type: ignore[attr-defined]  # httpx keeps it


async def test_a_deadline_seals_and_not_a_second_before(fresh: Service) -> None:
    campaign = await fresh.created(rules={"opt_in_until": "2026-11-15T13:00:00Z"})
    await fresh.moved(campaign, "open-opt-in", "draft")
    fresh.clock.pass_by(3599)
    await ticker_of(fresh).tick()
    assert await fresh.state(campaign) == "opt-in-open"
    fresh.clock.pass_by(1)
    await ticker_of(fresh).tick()
    assert await fresh.state(campaign) == "opt-in-sealed"


async def test_enough_contributions_seal(fresh: Service) -> None:
    campaign = await fresh.with_contributions(4, rules={"opt_in_enough": 5}, open_enrolment=False)
    await ticker_of(fresh).tick()
    assert await fresh.state(campaign) == "opt-in-open"
    [token] = await fresh.enrolled(campaign, 1)
    await fresh.contribute(campaign, token)
    await ticker_of(fresh).tick()
    assert await fresh.state(campaign) == "opt-in-sealed"


async def test_clients_are_opened_and_sealed_by_rule(fresh: Service) -> None:
    rules: dict[str, Any] = {"clients_enough": 3, "clients_until": "2027-01-01T00:00:00Z"}
    published = await fresh.published(rules=rules)
    await fresh.send(published.campaign, published.batch(2))
    await ticker_of(fresh).tick()
    assert await fresh.state(published.campaign) == "clients-open"
    await fresh.send(published.campaign, published.report_on_a("record"))
    await ticker_of(fresh).tick()
    assert await fresh.state(published.campaign) == "clients-open"
    fresh.clock.pass_by(24 * 3600)
    await ticker_of(fresh).tick()
    assert await fresh.state(published.campaign) == "clients-sealed"
    await fresh.jobs_done()
    assert await fresh.state(published.campaign) == "released"


async def test_a_published_list_opens_at_its_time(fresh: Service) -> None:
    campaign = await fresh.with_contributions(rules={"clients_from": "2026-11-15T14:00:00Z"})
    await fresh.moved(campaign, "seal-opt-in", "opt-in-open")
    await fresh.jobs_done()
    await ticker_of(fresh).tick()
    assert await fresh.state(campaign) == "list-published"
    fresh.clock.pass_by(7200)
    await ticker_of(fresh).tick()
    assert await fresh.state(campaign) == "clients-open"


async def test_without_rules_nothing_moves_and_a_draft_never_does(fresh: Service) -> None:
    draft = await fresh.created(rules={"opt_in_until": "2026-11-15T12:00:01Z"})
    waiting = await fresh.created()
    await fresh.moved(waiting, "open-opt-in", "draft")
    fresh.clock.pass_by(10**7)
    await ticker_of(fresh).tick()
    assert [await fresh.state(one) for one in (draft, waiting)] == ["draft", "opt-in-open"]


async def test_what_moved_by_rule_is_in_the_audit_log_as_such(fresh: Service) -> None:
    campaign = await fresh.created(rules={"opt_in_enough": 1}, open_enrolment=False)
    await fresh.moved(campaign, "open-opt-in", "draft")
    [token] = await fresh.enrolled(campaign, 1)
    await fresh.contribute(campaign, token)
    await ticker_of(fresh).tick()
    entries = (await fresh.http.get("/v1/audit-log", headers=fresh.as_role())).json()["entries"]
    assert entries[-1]["actor"] == "rules"
