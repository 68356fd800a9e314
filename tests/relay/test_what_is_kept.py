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
    assert columns["bundles"] == ["campaign", "level", "id", "encrypted"]
    assert columns["campaigns"] == [
        *("number", "id", "head_list", "encryption_key", "report_length", "least_batch"),
        *("state", "count"),
        *("order_key", "statement", "is_told", "is_scrubbed"),
    ]
    assert columns["collector"] == ["public_key"]


async def test_rows_are_in_a_random_order_not_of_arrival(tmp_path: Path) -> None:
    """By chance they are in that of arrival once in 15! · 3!, about 8e12."""
    async with running(tmp_path / "relay.sqlite") as relay:
        sent = [one for i in range(63) for one in await relay.fill([i])]
    with closing(sqlite3.connect(tmp_path / "relay.sqlite")) as database:
        rows = [row for (row,) in database.execute("SELECT encrypted FROM bundles")]
    length = len(sent[0])
    arrived = [
        [sent.index(row[i : i + length]) for i in range(0, len(row), length)] for row in rows
    ]
    assert sorted(place for row in arrived for place in row) == list(range(63))
    assert [len(row) for row in arrived] == [1] * 15 + [16] * 3
    single, merged = arrived[:15], arrived[15:]
    assert single != sorted(single) or merged != sorted(merged)
    assert all(row != sorted(row) for row in merged)  # in the order of their bytes; once in 16!


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
