"""What a relay keeps: ciphertexts only; nothing about who sent them, when, or in which order."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from relay.running import PATH, running

pytestmark = pytest.mark.anyio
CANARY = b"a canary of 16 b"
ADDRESS, AGENT = "203.0.113.77", "canary-browser/9"


async def test_no_plaintext_address_header_or_time_is_stored_or_logged(tmp_path: Path) -> None:
    async with running(tmp_path / "relay.sqlite") as relay:
        number = int.from_bytes(CANARY)
        sent = relay.collector.encrypt(number, cell=5)
        headers = {"user-agent": AGENT, "x-forwarded-for": ADDRESS, "cookie": f"a={AGENT}"}
        relay.http.headers.update(headers)
        assert (await relay.send(sent)).status_code == 202
        assert (await relay.send(sent, version=9)).status_code == 422
        await relay.http.get(PATH)
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        metrics = (await relay.http.get("/metrics")).content
        lines = relay.lines.getvalue()
    assert sent in files  # what is looked for would be found
    for secret in (CANARY, ADDRESS.encode(), AGENT.encode()):
        assert secret not in files
        assert secret not in metrics
        assert secret.decode() not in lines
    assert not lines  # requests leave no line at all: a line has a time
    assert b"_created" not in metrics  # the time of the first report


async def test_the_tables_have_no_place_for_a_time_or_a_sender(tmp_path: Path) -> None:
    async with running(tmp_path / "relay.sqlite") as relay:
        await relay.fill(range(3))
    with closing(sqlite3.connect(tmp_path / "relay.sqlite")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema")]
        columns = {
            table: [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for table in tables
        }
    assert columns["reports"] == ["campaign", "encrypted"]
    assert columns["campaigns"] == [
        *("number", "id", "head_list", "encryption_key", "report_length", "least_batch"),
        *("state", "count"),
        *("order_key", "statement", "is_told", "is_scrubbed"),
    ]
    assert columns["collector"] == ["public_key"]


async def test_rows_are_in_the_order_of_their_bytes_not_of_arrival(tmp_path: Path) -> None:
    async with running(tmp_path / "relay.sqlite") as relay:
        sent = [await relay.fill([i]) for i in range(60)]
        batch = (await relay.app.dependencies.store.batches())[0]
        stored = await relay.app.dependencies.store.reports(batch)
    assert list(stored) == sorted(one for [one] in sent)


async def test_the_collector_gets_no_time_address_or_order(tmp_path: Path) -> None:
    async with running(tmp_path / "relay.sqlite") as relay:
        sent = [one for i in range(40) for one in await relay.fill([i])]
        relay.collector.state = "clients-sealed"
        await relay.tick()
        requests = relay.collector.requests
    posted = [json.loads(body) for method, _, body in requests if method == "POST"]
    names = {"version", "statement", "public_key", "signature", "piece", "reports"}
    assert all(set(document) == names for document in posted)
    arrived = {one: place for place, one in enumerate(sent)}
    length = relay.collector.encryption.length
    content = relay.collector.encrypted
    order = [arrived[content[i : i + length]] for i in range(0, len(content), length)]
    assert sorted(order) == list(range(40))
    assert order != list(range(40))  # a uniform order is that one once in 40!
