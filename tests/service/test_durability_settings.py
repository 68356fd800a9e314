"""The settings that keep what was acknowledged when power is lost, and remove what was deleted.

Kills of processes cannot show them: what a process wrote stays with the system.
"""

from pathlib import Path
from typing import Any

import asyncpg
import pytest

from blender_dp.service.keys.key_vault import KeyVault, Purpose
from blender_dp.service.storage.database import Database, Transaction
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite.backup import back_up
from campaign_stores import a_campaign
from disk_waits import inode, watch_disk_waits
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio
PRAGMAS = {
    "journal_mode": "wal",
    "synchronous": 2,  # FULL: a commit waits for the disk
    "secure_delete": 1,  # ON: deleted rows are overwritten
    "foreign_keys": 1,
    "trusted_schema": 0,
}


async def opened(address: str) -> tuple[DatabaseStore, Database]:
    store = await open_store(address)
    assert isinstance(store, DatabaseStore)
    return store, store.database


async def test_every_connection_to_sqlite_has_them(tmp_path: Path) -> None:
    async def settings(tx: Transaction) -> dict[str, Any]:
        return {name: (await tx.rows(f"PRAGMA {name}"))[0][0] for name in PRAGMAS}

    store, database = await opened(str(tmp_path / "service.sqlite"))
    assert await database.write(settings) == PRAGMAS
    assert await database.read(settings) == PRAGMAS
    await store.close()


async def test_commits_to_postgresql_wait_for_the_disk_whatever_the_server_prefers(
    postgres_server: PostgresServer,
) -> None:
    async def setting(tx: Transaction) -> Any:
        return (await tx.rows("SHOW synchronous_commit"))[0][0]

    address = await postgres_server.fresh_database()
    connection = await asyncpg.connect(address)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    await connection.close()
    store, database = await opened(address)
    assert await database.write(setting) == "on"
    await store.close()


async def test_a_backup_is_on_the_disk_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(str(tmp_path / "service.sqlite"))
    await store.put_campaign(a_campaign(), actor="ada")
    await store.close()
    copy = tmp_path / "copies" / "copy.sqlite"
    copy.parent.mkdir()
    waits = watch_disk_waits(monkeypatch, lambda: copy.exists() and copy.stat().st_size)
    back_up(tmp_path / "service.sqlite", copy)
    assert waits == [(inode(place), copy.stat().st_size) for place in (copy, copy.parent)]


def test_a_key_is_on_the_disk_before_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, campaign = KeyVault(tmp_path), a_campaign().id
    path = tmp_path / f"{campaign}.records.key"
    waits = watch_disk_waits(monkeypatch, path.exists)
    vault.key(campaign, Purpose.RECORDS)
    assert waits == [(inode(path), False), (inode(tmp_path), True)]


def test_the_marker_is_on_the_disk_before_the_key_is_destroyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a loss of power could undo it, and the key be made anew."""
    vault, campaign = KeyVault(tmp_path), a_campaign().id
    key = vault.key(campaign, Purpose.RECORDS)
    path = tmp_path / f"{campaign}.records.key"
    marker, number = path.with_suffix(".destroyed"), inode(path)

    def look() -> tuple[bool, bytes | None]:
        return marker.exists(), path.read_bytes() if path.exists() else None

    waits = watch_disk_waits(monkeypatch, look)
    vault.destroy(campaign, Purpose.RECORDS)
    assert waits == [
        (inode(tmp_path), (True, key)),  # the marker has its name
        (number, (True, bytes(len(key)))),  # the key is overwritten
        (inode(tmp_path), (True, None)),  # and gone
    ]
