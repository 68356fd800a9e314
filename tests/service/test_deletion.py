"""What was withdrawn or counted is in no file any more, on either database."""

import asyncio
import hashlib
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
from service.deleted_bytes import ScannedStore, postgres_store, sqlite_store

from blender_dp.server.databases import postgres_rewriting
from blender_dp.service.campaign import JobKind, Move, State
from blender_dp.service.http.reports.checked_reports import CheckedReports
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.postgres import scrubbing
from blender_dp.service.storage.sqlite import database as sqlite_database
from blender_dp.service.storage.store import Reason, StoreRefusal
from campaign_stores import (
    NOW,
    a_contribution,
    a_release,
    erased,
    leased,
    moved,
    opened_for_clients,
    opened_for_opt_in,
    some_reports,
)
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgres"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ScannedStore]:
    if request.param == "sqlite":
        opened = await sqlite_store(tmp_path / "data")
    else:
        opened = await postgres_store(request.getfixturevalue("postgres_server"))
    yield opened
    await opened.store.close()


async def contributed(place: ScannedStore, size: int) -> tuple[UUID, bytes, list[bytes]]:
    """Return a campaign, one of its opt-in users, and what only their rows hold."""
    campaign = await opened_for_opt_in(place.store)
    owners = [os.urandom(32) for _ in range(5)]
    await place.store.add_enrolments(campaign, owners)
    secrets: list[bytes] = []
    for owner in owners:
        content = os.urandom(size)
        digest = hashlib.sha256(content).hexdigest()
        given = replace(
            a_contribution(owner, content), tag=os.urandom(16), consent_digest=f"sha256:{digest}"
        )
        await place.store.contribute(campaign, given)
        secrets = [content[:16], content[-16:], given.tag, digest.encode()]
    return campaign, owners[-1], secrets


@pytest.mark.parametrize("size", [1100, 20_000])
async def test_nothing_of_a_withdrawn_contribution_is_left(place: ScannedStore, size: int) -> None:
    """In the row, in pages beside it if it is long, in the log of changes; nor of its consent."""
    campaign, owner, secrets = await contributed(place, size)
    assert await place.found(*secrets) == set(secrets)
    await place.store.withdraw(campaign, owner)
    await place.until_gone(*secrets)
    assert (await place.store.progress(campaign)).withdrawn == 1


async def released(place: ScannedStore, campaign: UUID) -> None:
    await moved(place.store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    await place.store.finish(await leased(place.store, JobKind.RELEASE), a_release(), now=NOW)


async def test_no_report_id_is_left_after_the_release(place: ScannedStore) -> None:
    campaign = await opened_for_clients(place.store)
    ids = [os.urandom(16) for _ in range(40)]
    tags = [os.urandom(8) for _ in ids]
    reports = some_reports(range(len(ids)))
    await place.store.add_reports(
        campaign,
        CheckedReports(ids=b"".join(ids), tags=b"".join(tags), answers=reports.answers),
    )
    assert await place.found(*ids, *tags) == {*ids, *tags}
    await released(place, campaign)
    erasing = await leased(place.store, JobKind.ERASE)
    await place.store.scrub(campaign)
    await place.store.finish(erasing, erased(), now=NOW)
    assert await place.found(*ids, *tags) == set()


async def test_a_log_that_a_killed_service_left_is_emptied(tmp_path: Path) -> None:
    """Its withdrawal was on disk, but in the log only, beside what was withdrawn."""
    place = await sqlite_store(tmp_path / "data")
    campaign, owner, secrets = await contributed(place, 1100)
    with closing(sqlite3.connect(place.address, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM contributions").fetchone()
        await place.store.withdraw(campaign, owner)
        # What a process that is killed now leaves. SQLite's locks are not needed any more.
        copy = shutil.copytree(place.directory, tmp_path / "killed")
        await place.store.close()
    left = await sqlite_store(copy)
    await left.until_gone(*secrets)
    await left.store.close()


async def test_a_reader_delays_the_removal_and_stops_nothing(tmp_path: Path) -> None:
    place = await sqlite_store(tmp_path / "data")
    campaign, owner, secrets = await contributed(place, 1100)
    with closing(sqlite3.connect(place.address, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM contributions").fetchone()
        await place.store.withdraw(campaign, owner)
        await place.store.add_enrolments(campaign, [os.urandom(32)])
        assert await place.found(*secrets)
    await place.until_gone(*secrets)
    await place.store.close()


async def test_scrubbing_refuses_while_somebody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job tries again later, and the service goes on meanwhile."""
    monkeypatch.setattr(sqlite_database, "_TRIES", 2)
    place = await sqlite_store(tmp_path / "data")
    campaign, _, _ = await contributed(place, 1100)
    with closing(sqlite3.connect(place.address, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM contributions").fetchone()
        sizes = []
        for _ in range(2):
            with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
                await place.store.scrub(campaign)
            sizes.append(Path(f"{place.address}-wal").stat().st_size)
        assert sizes[0] == sizes[1]  # it may be tried for hours
        await place.store.add_enrolments(campaign, [os.urandom(32)])
    await place.store.scrub(campaign)
    await place.store.close()


async def test_an_older_snapshot_delays_the_removal(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server keeps what a dump, for instance, may still have to read."""
    monkeypatch.setattr(scrubbing, "_TRIES", 2)
    place = await postgres_store(postgres_server)
    campaign, owner, secrets = await contributed(place, 1100)
    dump = await asyncpg.connect(place.address)
    async with dump.transaction(isolation="repeatable_read"):
        await dump.fetch("SELECT count(*) FROM jobs")
        await place.store.withdraw(campaign, owner)
        with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
            await place.store.scrub(campaign)
        assert await place.found(*secrets)
    await dump.close()
    await place.store.scrub(campaign)
    assert await place.found(*secrets) == set()
    await place.store.close()


async def test_a_table_that_somebody_holds_is_not_waited_for(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the scrubber waited, everybody who wants the table would wait behind it."""
    monkeypatch.setattr(scrubbing, "_TRIES", 1)
    monkeypatch.setattr(postgres_rewriting, "_LOCK_TIMEOUT", "50ms")
    place = await postgres_store(postgres_server)
    campaign, _, _ = await contributed(place, 1100)
    dump = await asyncpg.connect(place.address)
    async with dump.transaction():
        await dump.fetch("SELECT count(*) FROM contributions")
        with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
            async with asyncio.timeout(60):
                await place.store.scrub(campaign)
    await dump.close()
    await place.store.scrub(campaign)
    await place.store.close()


async def test_no_statistics_outlive_the_rows(postgres_server: PostgresServer) -> None:
    """PostgreSQL samples columns of its own accord, and keeps the samples of an emptied table."""
    address = await postgres_server.fresh_database()
    store = await open_store(address)
    campaign = await opened_for_clients(store)
    ids = [os.urandom(16) for _ in range(40)]
    tags = [os.urandom(8) for _ in ids]
    answers = some_reports(range(len(ids))).answers
    await store.add_reports(
        campaign, CheckedReports(ids=b"".join(ids), tags=b"".join(tags), answers=answers)
    )
    connection = await asyncpg.connect(address)
    try:
        await connection.execute("ANALYZE")
        sampled = await connection.fetch(
            "SELECT tablename, attname FROM pg_stats WHERE schemaname = 'public' AND tablename IN "
            "('report_ids', 'enrolments', 'issued_tokens', 'contributions', 'relayed_pieces')"
        )
    finally:
        await connection.close()
        await store.close()
    assert {row["attname"] for row in sampled} <= {"campaign", "status", "consent_version"}
    assert ("report_ids", "campaign") in {tuple(row) for row in sampled}
