"""Whoever watches the service is told when it cannot store, what waits and what failed."""

import asyncio
import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from service.running import Service, running

from blender_dp.server.databases import sqlite_connection
from blender_dp.service.operation import condition
from blender_dp.service.storage.database_store import DatabaseStore

pytestmark = pytest.mark.anyio
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def always_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody be told what was found for somebody else."""
    monkeypatch.setattr(condition, "_VALID_SECONDS", 0.0)
    monkeypatch.setattr(condition, "_VALID_SECONDS_IN_TROUBLE", 0.0)
    monkeypatch.setattr(condition, "_LONGEST_WAIT_SECONDS", 60.0)


async def health(service: Service) -> tuple[int, str, list[str]]:
    answer = await service.http.get("/health")
    document = answer.json()
    assert ("retry-after" in answer.headers) == (answer.status_code == 503)
    return answer.status_code, document["status"], document["reasons"]


async def figure(service: Service, name: str) -> float:
    text = (await service.http.get("/metrics")).text
    [found] = [line for line in text.splitlines() if line.startswith(f"blender_dp_{name} ")]
    return float(found.split()[1])


@pytest.mark.usefixtures("always_looks")
async def test_a_store_that_takes_no_writes_is_degraded_until_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "_PATIENCE_SECONDS", 0.05)
    async with running(tmp_path) as service:
        assert await health(service) == (200, "ok", [])
        with closing(sqlite3.connect(tmp_path / "service.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert await health(service) == (503, "degraded", ["store-refuses-writes"])
            assert await figure(service, 'degraded{reason="store-refuses-writes"}') == 1
            assert await figure(service, "store_up") == 1
        assert await health(service) == (200, "ok", [])
        assert await figure(service, 'degraded{reason="store-refuses-writes"}') == 0


@pytest.mark.usefixtures("always_looks")
async def test_an_almost_full_disk_is_said_while_reports_are_still_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = condition.LEAST_FREE_BYTES
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(2 * free, free, free))
    async with running(tmp_path, directory=tmp_path) as service:
        assert await health(service) == (200, "ok", [])
        free -= 1
        assert await health(service) == (200, "degraded", ["disk-almost-full"])
        assert await figure(service, "disk_free_bytes") == free


@pytest.mark.usefixtures("always_looks")
async def test_keys_that_are_gone_are_said_until_they_are_back(tmp_path: Path) -> None:
    keys, away = tmp_path / "keys", tmp_path / "away"
    async with running(tmp_path) as service:
        assert await health(service) == (200, "ok", [])
        keys.rename(away)
        assert await health(service) == (503, "degraded", ["keys-gone"])
        keys.mkdir()
        assert await health(service) == (503, "degraded", ["keys-gone"])
        assert await figure(service, 'degraded{reason="keys-gone"}') == 1
        assert list(keys.iterdir()) == []
        keys.rmdir()
        away.rename(keys)
        assert await health(service) == (200, "ok", [])
        assert await figure(service, 'degraded{reason="keys-gone"}') == 0


@pytest.mark.usefixtures("always_looks")
async def test_a_database_that_was_moved_is_said_until_it_is_back(tmp_path: Path) -> None:
    file, away = tmp_path / "service.sqlite", tmp_path / "away.sqlite"
    async with running(tmp_path) as service:
        file.rename(away)
        assert await health(service) == (503, "degraded", ["database-moved"])
        assert await figure(service, 'degraded{reason="database-moved"}') == 1
        assert not file.exists()  # nobody opened it, which would have made it
        file.write_bytes(b"")
        assert await health(service) == (503, "degraded", ["database-moved"])
        file.unlink()
        away.rename(file)
        assert await health(service) == (200, "ok", [])
        await service.created()


class Watched:
    """A store that counts looks, and that hangs when told."""

    def __init__(self, store: DatabaseStore) -> None:
        self._store = store
        self.looks, self.hangs = 0, asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def require_writable(self) -> None:
        self.looks += 1
        if self.hangs.is_set():
            await asyncio.Event().wait()
        await self._store.require_writable()


async def test_many_questions_cost_one_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(condition, "_VALID_SECONDS", 3600.0)
    async with running(tmp_path, store_of=Watched) as service:
        await asyncio.gather(*(health(service) for _ in range(20)))
        await health(service)
        store: Any = service.dependencies.store
        assert store.looks == 1


async def test_a_database_that_hangs_keeps_nobody_waiting_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(condition, "_VALID_SECONDS", 0.0)
    async with running(tmp_path, store_of=Watched) as service:
        assert await health(service) == (200, "ok", [])
        store: Any = service.dependencies.store
        store.hangs.set()
        assert await health(service) == (200, "ok", [])  # as it was a moment ago
        monkeypatch.setattr(condition, "_HANGING_SECONDS", 0.0)
        assert await health(service) == (503, "degraded", ["store-unreachable"])


@pytest.mark.usefixtures("always_looks")
async def test_jobs_that_wait_are_overdue_or_failed_are_counted(fresh: Service) -> None:
    async def jobs() -> list[float]:
        return [await figure(fresh, f"jobs_{name}") for name in ("waiting", "overdue", "failed")]

    assert await jobs() == [0, 0, 0]
    campaign = await fresh.with_contributions(1)
    await fresh.moved(campaign, "seal-opt-in", "opt-in-open")
    assert await jobs() == [1, 0, 0]
    fresh.clock.pass_by(3600)
    assert await jobs() == [1, 1, 0]
    await fresh.worker.run_one()
    assert (await jobs())[2] == 1
    state = await fresh.state(campaign)
    await fresh.moved(campaign, "purge", state)
    assert (await jobs())[2] == 0


@pytest.mark.usefixtures("always_looks")
async def test_the_oldest_open_campaign_is_the_one_that_opened_first(fresh: Service) -> None:
    name = "oldest_open_campaign_seconds"
    assert await figure(fresh, name) == 0
    first = await fresh.with_contributions(0)
    fresh.clock.pass_by(100)
    await fresh.with_contributions(0)
    assert await figure(fresh, name) == 100
    await fresh.moved(first, "seal-opt-in", "opt-in-open")
    assert await figure(fresh, name) == 0
