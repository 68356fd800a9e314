"""What a relay learns from the collector's public log, and what it says of campaigns of nobody."""

import json
from pathlib import Path
from typing import Any

import pytest
from relay.running import CAMPAIGN, PATH, PUBLIC_KEY, Relay, running
from relay.stand_in_collector import StandInCollector

from blender_dp.wire.relayed.batch import Destroyed

pytestmark = pytest.mark.anyio
ANNOUNCED: list[tuple[str, str | None]] = [
    ("campaign", str(CAMPAIGN)),
    ("head-list", str(CAMPAIGN)),
]


def announcing(state: str, **options: Any) -> StandInCollector:
    collector = StandInCollector(CAMPAIGN, options.pop("relay_key", PUBLIC_KEY), **options)
    collector.state, collector.announced = state, list(ANNOUNCED)
    return collector


async def test_a_campaign_without_reports_ends_with_a_statement(address: str) -> None:
    async with running(address, announcing("list-published")) as relay:
        await relay.tick()
        counts = await relay.counts()
        assert (counts["state"], counts["waiting"]) == ("waiting", 0)
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert relay.collector.destroyed is not None
        assert relay.collector.destroyed.public_key == PUBLIC_KEY
        assert isinstance(relay.collector.destroyed.statement, Destroyed)
        assert relay.collector.destroyed.statement.count == 0
        assert (await relay.counts())["state"] == "destroyed"


async def test_an_announced_campaign_takes_reports_when_it_opens(address: str) -> None:
    async with running(address, announcing("list-published")) as relay:
        await relay.tick()
        relay.collector.state = "clients-open"
        await relay.fill(range(6))
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert sorted(relay.collector.numbers()) == list(range(6))


async def test_nothing_is_said_of_a_campaign_that_was_sealed_before(tmp_path: Path) -> None:
    """Its reports may be on the disk of the relay that this one replaces too early."""
    async with running(tmp_path / "relay.sqlite", announcing("clients-sealed")) as relay:
        await relay.tick()
        assert relay.collector.destroyed is None
        assert (await relay.http.get(PATH)).status_code == 404


async def test_nothing_is_kept_of_another_relays_campaign(tmp_path: Path) -> None:
    collector = announcing("clients-open", relay_key="A" * 43)
    async with running(tmp_path / "relay.sqlite", collector) as relay:
        await relay.tick()
        assert (await relay.http.get(PATH)).status_code == 404
        assert not relay.lines.getvalue()


async def test_the_log_is_read_onwards_and_again_after_a_failure(relay: Relay) -> None:
    relay.collector.announced = [("campaign", str(CAMPAIGN))]
    await relay.tick()
    relay.collector.announced = list(ANNOUNCED)
    relay.collector.instead = b"{}"  # as the answer to everything: not as documented
    await relay.tick()
    assert '"event":"collector-failed"' in relay.lines.getvalue()
    relay.collector.instead = None
    await relay.tick()
    assert (await relay.counts())["waiting"] == 0
    relay.collector.requests.clear()
    await relay.tick()
    assert [path for _, path, _ in relay.collector.requests] == ["/v1/log", PATH]


async def test_a_log_that_begins_anew_is_read_from_its_beginning(relay: Relay) -> None:
    relay.collector.announced = [("campaign", None)] * 3
    await relay.tick()
    relay.collector.announced = list(ANNOUNCED)
    await relay.tick()
    await relay.tick()
    assert (await relay.counts())["waiting"] == 0


async def test_a_relay_with_another_key_says_why_it_takes_no_report(tmp_path: Path) -> None:
    collector = StandInCollector(CAMPAIGN, "A" * 43)
    async with running(tmp_path / "relay.sqlite", collector) as relay:
        sent = relay.collector.encrypt(0)
        assert (await relay.send(sent)).status_code == 404
        relay.app.campaigns._lookups._refused.clear()  # as after some seconds
        assert (await relay.send(sent)).status_code == 404
        lines = [json.loads(line) for line in relay.lines.getvalue().splitlines()]
        metrics = (await relay.http.get("/metrics")).text
    assert len(lines) == 1  # devices go on sending
    assert {name: lines[0][name] for name in ("event", "reason", "campaign", "own_key")} == {
        "event": "list-refused",
        "reason": "another-relay-key",
        "campaign": str(CAMPAIGN),
        "own_key": PUBLIC_KEY,
    }
    assert 'blender_dp_relay_lists_refused_total{reason="another-relay-key"} 2.0' in metrics


async def test_a_list_of_another_collector_is_named_too(tmp_path: Path) -> None:
    async with running(tmp_path / "relay.sqlite", collector_key="A" * 43) as relay:
        assert (await relay.send(relay.collector.encrypt(0))).status_code == 404
        assert '"reason":"another-collector-key"' in relay.lines.getvalue()
