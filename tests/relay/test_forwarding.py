"""From acceptance to the end of a batch, on either database: forwarded once or destroyed."""

import json
from pathlib import Path
from typing import Any

import pytest
from relay.running import CAMPAIGN, PATH, PUBLIC_KEY, running
from relay.stand_in_collector import StandInCollector

from blender_dp.relay.storage.report_writer import ReportWriter
from blender_dp.relay.storage.store import Batch, RelayStore
from blender_dp.server.databases.database import UnavailableError
from blender_dp.wire.relayed.batch import Destroyed, Forwarded, read_statement

pytestmark = pytest.mark.anyio


async def test_a_batch_is_forwarded_once_and_deleted(address: str) -> None:
    async with running(address) as relay:
        sent = await relay.fill(range(8))
        assert await relay.counts() == {
            "campaign": str(CAMPAIGN),
            "state": "waiting",
            "waiting": 8,
            "forwarded": 0,
            "destroyed": 0,
            "least_batch": 5,
        }
        await relay.tick()
        assert not relay.collector.pieces  # the campaign is still open
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert sorted(relay.collector.numbers()) == list(range(8))
        assert relay.collector.batch_state == "complete"
        assert len(relay.collector.pieces) == 3
        counts = await relay.counts()
        assert (counts["state"], counts["waiting"], counts["forwarded"]) == ("forwarded", 0, 8)
        statement = read_statement((await relay.http.get(f"{PATH}/statement")).json())
        assert isinstance(statement.statement, Forwarded)
        assert (statement.public_key, statement.statement.count) == (PUBLIC_KEY, 8)
        relay.collector.requests.clear()
        await relay.tick()
        paths = {path for _, path, _ in relay.collector.requests}
        assert paths == {"/v1/log"}  # nothing is left to do
        batch = await relay.app.dependencies.store.batch(CAMPAIGN)
        assert batch is not None
        assert batch.is_over
        assert not await relay.app.dependencies.store.reports(batch)
        answer = await relay.send(sent[0])  # a replay after the end
        assert answer.status_code == 409


async def test_a_batch_that_is_too_small_is_destroyed_and_said_so(address: str) -> None:
    async with running(address) as relay:
        await relay.fill(range(4))
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert not relay.collector.pieces
        assert relay.collector.destroyed is not None
        assert relay.collector.destroyed.public_key == PUBLIC_KEY
        assert isinstance(relay.collector.destroyed.statement, Destroyed)
        assert relay.collector.destroyed.statement.count == 4
        counts = await relay.counts()
        assert (counts["state"], counts["waiting"], counts["destroyed"]) == ("destroyed", 0, 4)
        shown = (await relay.http.get(f"{PATH}/statement")).json()
        assert shown["statement"]["destroyed"] is True


async def test_a_report_that_comes_during_the_decision_is_not_destroyed_with_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(address) as relay:
        await relay.fill(range(4))
        begin, known = RelayStore.begin_forwarding, relay.app.campaigns.known(CAMPAIGN)
        assert known is not None

        async def begin_late(store: RelayStore, batch: Batch, order_key: bytes) -> bool:
            has_begun = await begin(store, batch, order_key)
            if not has_begun:  # a request that was let in before the seal is written now
                await relay.app._writer.add(known.number, [relay.collector.encrypt(4)])
            return has_begun

        monkeypatch.setattr(RelayStore, "begin_forwarding", begin_late)
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert relay.collector.destroyed is None
        await relay.tick()
        assert sorted(relay.collector.numbers()) == list(range(5))


async def test_an_answer_that_is_not_as_documented_is_asked_for_again(tmp_path: Path) -> None:
    async with running(tmp_path / "relay.sqlite") as relay:
        await relay.fill(range(6))
        relay.collector.state = "clients-sealed"
        relay.collector.instead = b'{"state":"clients-sealed"}'
        await relay.tick()
        relay.collector.instead = b'{"state":"waiting","pieces_received":[],"statement":{}}'
        await relay.tick()  # nothing is raised, which would stop other campaigns
        assert (await relay.counts())["state"] == "forwarding"
        relay.collector.instead = None
        await relay.tick()
        assert sorted(relay.collector.numbers()) == list(range(6))


async def test_exactly_the_smallest_batch_is_forwarded(address: str) -> None:
    async with running(address) as relay:
        await relay.fill(range(5))
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert sorted(relay.collector.numbers()) == list(range(5))


async def test_the_same_ciphertext_counts_once(address: str) -> None:
    async with running(address) as relay:
        sent = await relay.fill(range(6))
        again = await relay.send(sent[0])
        assert again.json() == {"accepted": 0, "repeated": 1}
        twice = relay.collector.encrypt(6)
        mixed = await relay.send(sent[1], twice, twice)
        assert mixed.json() == {"accepted": 1, "repeated": 2}
        assert (await relay.counts())["waiting"] == 7
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert sorted(relay.collector.numbers()) == list(range(7))


async def test_a_report_that_was_stored_twice_is_forwarded_once(address: str) -> None:
    """Two processes on one database do not know of each other's reports."""
    async with running(address) as relay:
        sent = await relay.fill(range(6))
        known = relay.app.campaigns.known(CAMPAIGN)
        assert known is not None
        other = ReportWriter(relay.app.dependencies.store.database)
        both = relay.collector.encrypt(6)
        assert (await other.add(known.number, [*sent[:2], both])).accepted == 1
        assert (await relay.send(both)).json() == {"accepted": 1, "repeated": 0}
        assert (await relay.counts())["waiting"] == 8
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert sorted(relay.collector.numbers()) == list(range(7))
        assert (await relay.counts())["forwarded"] == 7


async def test_a_batch_is_too_small_if_only_repetitions_fill_it(address: str) -> None:
    async with running(address) as relay:
        await relay.fill(range(3))
        known = relay.app.campaigns.known(CAMPAIGN)
        assert known is not None
        both = relay.collector.encrypt(3)
        await ReportWriter(relay.app.dependencies.store.database).add(known.number, [both])
        await relay.send(both)
        assert (await relay.counts())["waiting"] == 5
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert not relay.collector.pieces
        counts = await relay.counts()
        assert (counts["state"], counts["destroyed"]) == ("destroyed", 4)
        assert relay.collector.destroyed is not None
        assert relay.collector.destroyed.statement.count == 4


async def test_a_write_whose_end_is_unknown_is_looked_up(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks after the commit: a retry finds its reports in the database."""
    async with running(address) as relay:
        await relay.fill(range(2))
        database = relay.app.dependencies.store.database
        write = type(database).write

        async def write_and_break(*given: Any) -> None:
            await write(*given)
            raise UnavailableError

        monkeypatch.setattr(type(database), "write", write_and_break)
        lost = relay.collector.encrypt(2)
        assert (await relay.send(lost)).status_code == 503
        monkeypatch.undo()
        assert (await relay.send(lost)).json() == {"accepted": 0, "repeated": 1}
        assert (await relay.counts())["waiting"] == 3


async def test_after_the_end_no_memory_is_kept_for_the_reports(address: str) -> None:
    async with running(address) as relay:
        await relay.fill(range(6))
        assert relay.app._writer._known
        relay.collector.state = "clients-sealed"
        await relay.tick()
        assert not relay.app._writer._known


async def test_after_a_failure_the_same_pieces_are_sent(address: str) -> None:
    collector = StandInCollector(CAMPAIGN, PUBLIC_KEY)
    async with running(address, collector) as relay:
        await relay.fill(range(9))
        collector.state = "clients-sealed"
    sent: list[bytes] = []
    for failing_after in (2, 3):  # at the first piece, then at the last
        async with running(address, collector) as relay:
            remaining = failing_after

            async def limited(scope: object, receive: object, send: object) -> None:
                nonlocal remaining
                remaining -= 1
                collector.failures = int(remaining < 0)
                await collector(scope, receive, send)

            relay.app.dependencies.collector.client._transport.app = limited  # type: ignore[attr-defined]
            await relay.tick()
            sent += [body for method, _, body in collector.requests if method == "POST"]
    collector.failures = 0
    async with running(address, collector, piece_size=2) as relay:  # what was stated stays
        await relay.tick()
        assert (await relay.counts())["state"] == "forwarded"
    assert sorted(collector.numbers()) == list(range(9))
    by_piece: dict[int, set[str]] = {}
    for body in sent:
        document = json.loads(body)
        by_piece.setdefault(document["piece"], set()).add(json.dumps(document["reports"]))
    assert all(len(contents) == 1 for contents in by_piece.values())


async def test_a_collector_that_no_longer_waits_makes_the_relay_destroy(address: str) -> None:
    async with running(address) as relay:
        await relay.fill(range(8))
        relay.collector.state = "released"
        await relay.tick()
        assert (await relay.counts())["state"] == "destroyed"
        assert not relay.collector.pieces


async def test_a_batch_whose_time_is_over_while_it_is_sent_is_destroyed(address: str) -> None:
    async with running(address) as relay:
        await relay.fill(range(8))
        relay.collector.state = "clients-sealed"
        relay.collector.batch_state = "absent"
        await relay.tick()
        counts = await relay.counts()
        assert (counts["state"], counts["destroyed"]) == ("destroyed", 8)
        shown = (await relay.http.get(f"{PATH}/statement")).json()
        assert shown["statement"]["destroyed"] is True


async def test_a_second_relay_with_the_same_key_does_not_claim_the_batch_of_the_first(
    address: str, tmp_path: Path
) -> None:
    collector = StandInCollector(CAMPAIGN, PUBLIC_KEY)
    async with running(address, collector) as first, running(tmp_path / "b", collector) as second:
        await first.fill(range(6))
        await second.fill(range(10, 17))
        collector.state = "clients-sealed"
        await first.tick()
        await second.tick()
        assert (await first.counts())["forwarded"] == 6
        counts = await second.counts()
        assert (counts["state"], counts["forwarded"], counts["destroyed"]) == ("destroyed", 0, 7)
    assert sorted(collector.numbers()) == list(range(6))


async def test_no_report_is_accepted_once_the_order_is_fixed(address: str) -> None:
    async with running(address) as relay:
        await relay.fill(range(8))
        batch = await relay.app.dependencies.store.batch(CAMPAIGN)
        assert batch is not None
        assert await relay.app.dependencies.store.begin_forwarding(batch, bytes(32))
        answer = await relay.send(relay.collector.encrypt(9))  # the relay still believes it is open
        assert answer.status_code == 409
        assert (await relay.counts())["waiting"] == 8


async def test_a_relay_that_stopped_while_waiting_goes_on(address: str) -> None:
    collector = StandInCollector(CAMPAIGN, PUBLIC_KEY)
    async with running(address, collector) as relay:
        await relay.fill(range(4))
    async with running(address, collector) as relay:
        await relay.fill(range(4, 8))
        collector.state = "clients-sealed"
    async with running(address, collector) as relay:
        await relay.tick()
    assert sorted(collector.numbers()) == list(range(8))


async def test_nothing_of_a_batch_is_left_in_the_files(tmp_path: Path) -> None:
    """Neither in the database nor in its log, forwarded or destroyed."""
    for count in (4, 8):
        collector = StandInCollector(CAMPAIGN, PUBLIC_KEY)
        path = tmp_path / f"{count}" / "relay.sqlite"
        path.parent.mkdir()
        async with running(path, collector) as relay:
            sent = await relay.fill(range(count))
            before = b"".join(file.read_bytes() for file in path.parent.iterdir())
            assert all(one in before for one in sent)  # what is looked for would be found
            collector.state = "clients-sealed"
            await relay.tick()
            after = b"".join(file.read_bytes() for file in path.parent.iterdir())
        assert not any(one in after for one in sent)
        assert not any(one[8:24] in after for one in sent)
