"""What the relay refuses for now, or at all, so that no sender fills its memory."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from relay.running import CAMPAIGN, PATH, PUBLIC_KEY, Relay, running
from relay.stand_in_collector import StandInCollector

from blender_dp.relay.intake import MOST_BYTES
from blender_dp.relay.storage import report_writer
from blender_dp.server.campaign_lookups import _MOST_LOOKUPS as MOST_LOOKUPS

pytestmark = pytest.mark.anyio
PATIENCE = 60.0
"""Seconds until a test that hangs is given up."""


async def until(happened: Callable[[], bool]) -> None:
    """Let other tasks run until something happened."""
    async with asyncio.timeout(PATIENCE):
        while not happened():
            await asyncio.sleep(0.001)


async def test_a_body_above_two_mebibytes_is_refused(relay: Relay) -> None:
    headers = {"content-type": "application/json"}
    body = b" " * (MOST_BYTES + 1)
    answer = await relay.http.post(f"{PATH}/reports", content=body, headers=headers)
    assert answer.status_code == 413


async def test_reports_beyond_those_that_wait_for_the_disk_are_refused_for_now(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    await relay.fill(range(2))
    monkeypatch.setattr(report_writer, "MOST_WAITING", 3)
    writer, slow = relay.app._writer, asyncio.Event()
    write = relay.app.dependencies.store.database.write

    async def write_slowly(work: Callable[[Any], Awaitable[Any]]) -> Any:
        await slow.wait()
        return await write(work)

    monkeypatch.setattr(relay.app.dependencies.store.database, "write", write_slowly)
    first = asyncio.create_task(relay.send(relay.collector.encrypt(2)))
    await until(lambda: writer._task is not None and not writer._task.done() and not writer._count)
    second = asyncio.create_task(relay.fill([3, 4, 5]))
    await until(lambda: writer._count == 3)
    refused = await relay.send(relay.collector.encrypt(6))
    assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
    slow.set()
    assert (await first).status_code == 202
    await second
    monkeypatch.undo()
    assert (await relay.counts())["waiting"] == 6


async def test_few_unknown_campaigns_are_looked_up_at_once(tmp_path: Path) -> None:
    collector, slow = StandInCollector(CAMPAIGN, PUBLIC_KEY), asyncio.Event()

    async def answer_slowly(scope: Any, receive: Any, send: Any) -> None:
        await slow.wait()
        await collector(scope, receive, send)

    async with running(tmp_path / "relay.sqlite", collector) as relay:
        relay.app.dependencies.collector.client._transport.app = answer_slowly  # type: ignore[attr-defined]

        async def ask(number: int) -> int:
            path = f"/v1/campaigns/{UUID(int=number)}/reports"
            return (await relay.http.post(path, json={})).status_code

        asked = [asyncio.create_task(ask(number)) for number in range(1, MOST_LOOKUPS + 1)]
        await until(lambda: len(relay.app.campaigns._lookups._lookups) == MOST_LOOKUPS)
        assert await ask(MOST_LOOKUPS + 1) == 503
        slow.set()
        assert set(await asyncio.gather(*asked)) == {404}
