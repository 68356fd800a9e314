"""What a campaign leaves is deleted even where that takes longer than the server may take."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from service.running import running

from blender_dp.server.databases import postgres_connection
from blender_dp.service.campaign import JobKind, Move, State
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.tables import campaigns
from blender_dp.wire.service.contribution import MOST_BYTES
from campaign_stores import (
    NOW,
    a_contribution,
    a_release,
    erased,
    leased,
    moved,
    opened_for_clients,
    opened_for_opt_in,
    publish_list,
    report_id,
    some_reports,
)
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio
ROWS = 2_500
LIMIT_SECONDS = 2
"""What a command may take: less than the deletion of all rows, at a millisecond a row and more."""
AT_ONCE = 100
SLOW = """
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_sleep(0.001); RETURN OLD; END $$;
    CREATE TRIGGER slow_ids BEFORE DELETE ON report_ids FOR EACH ROW EXECUTE FUNCTION slow();
    CREATE TRIGGER slow_rows BEFORE DELETE ON contributions FOR EACH ROW EXECUTE FUNCTION slow();
"""
IDS = """
    INSERT INTO report_ids SELECT number, sha256(i::text::bytea), 'tag'
    FROM campaigns, generate_series(1, $2) i WHERE campaigns.id = $1
"""
ENROLMENTS = """
    INSERT INTO enrolments SELECT number, sha256(i::text::bytea), 'contributed'
    FROM campaigns, generate_series(1, $2) i WHERE campaigns.id = $1
"""
CONTRIBUTIONS = """
    INSERT INTO contributions SELECT campaign, digest, 'encrypted', 'tag' FROM enrolments
    WHERE NOT EXISTS (SELECT FROM contributions WHERE enrolment = digest)
"""
TABLES = (
    "contributions",
    "issued_tokens",
    "enrolments",
    "report_ids",
    "relayed_pieces",
    "counters",
)


@asynccontextmanager
async def slow_store(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[DatabaseStore, Any]]:
    """Open a store that is slow to delete and impatient, and a connection beside it."""
    monkeypatch.setattr(postgres_connection, "_PATIENCE_SECONDS", LIMIT_SECONDS)
    monkeypatch.setattr(campaigns, "_AT_ONCE", AT_ONCE)
    address = await server.fresh_database()
    store = await open_store(address)
    beside = await asyncpg.connect(address)
    try:
        await beside.execute(SLOW)
        yield store, beside
    finally:
        await beside.close()
        await store.close()


async def left(beside: Any, campaign: UUID) -> dict[str, int]:
    number = await beside.fetchval("SELECT number FROM campaigns WHERE id = $1", str(campaign))
    return {
        table: await beside.fetchval(f"SELECT count(*) FROM {table} WHERE campaign = $1", number)  # noqa: S608
        for table in TABLES
    }


async def test_ids_are_deleted_after_the_release(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with slow_store(postgres_server, monkeypatch) as (store, beside):
        other, campaign = [await opened_for_clients(store) for _ in range(2)]
        for one in (campaign, other):
            await store.add_reports(one, some_reports(range(5)))
        await beside.execute(IDS, str(campaign), ROWS)
        await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
        await store.finish(await leased(store, JobKind.RELEASE), a_release(), now=NOW)
        erasing = await leased(store, JobKind.ERASE)
        await store.scrub(campaign)
        await store.finish(erasing, erased(), now=NOW)
        assert (await left(beside, campaign))["report_ids"] == 0
        assert (await left(beside, other))["report_ids"] == 5
        assert (await store.report_counts(campaign)).cell_reports == 5


async def test_everything_is_deleted_after_a_purge(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with slow_store(postgres_server, monkeypatch) as (store, beside):
        other, campaign = [await opened_for_opt_in(store) for _ in range(2)]
        await store.add_enrolments(other, [bytes(32)])
        await store.contribute(other, a_contribution(bytes(32)))
        await beside.execute(ENROLMENTS, str(campaign), ROWS)
        await beside.execute(CONTRIBUTIONS)
        assert (await left(beside, campaign))["contributions"] == ROWS
        await moved(store, campaign, Move.PURGE, State.OPT_IN_OPEN)
        await store.scrub(campaign)
        assert not any((await left(beside, campaign)).values())
        assert (await left(beside, other))["contributions"] == 1


async def test_a_move_deletes_what_is_not_much_itself(tmp_path: Path) -> None:
    """Where the rows are few, none waits for the job that erases."""
    path = tmp_path / "service.sqlite"
    store = await open_store(str(path))
    released = await opened_for_clients(store)
    await store.add_reports(released, some_reports(range(5)))
    await moved(store, released, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    await store.finish(await leased(store, JobKind.RELEASE), a_release(), now=NOW)
    await leased(store, JobKind.ERASE)  # and never run
    failed = await opened_for_opt_in(store)
    await store.add_enrolments(failed, [bytes(32)])
    await store.contribute(failed, a_contribution(bytes(32)))
    await moved(store, failed, Move.SEAL_OPT_IN, State.OPT_IN_OPEN)
    job = await leased(store, JobKind.HEAD_LIST)
    await store.fail(job, "empty-head-list", is_final=True, now=NOW)
    assert [piece async for piece in store.contributions(failed)] == []
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM report_ids").fetchone() == (0,)


def test_a_transaction_deletes_at_most_128_mib_of_contributions() -> None:
    assert campaigns._LARGE_AT_ONCE * (MOST_BYTES + 2**16) <= 2**27


async def test_rows_are_deleted_even_if_the_keys_cannot_be_destroyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "_AT_ONCE", 2)
    async with running(tmp_path) as service:
        campaign = await service.created()
        await service.moved(campaign, "open-opt-in", "draft")
        for token in await service.enrolled(campaign, 7):
            assert (await service.contribute(campaign, token)).status_code < 300

        def fail(*_: object) -> None:
            raise OSError

        monkeypatch.setattr(service.dependencies.keys, "destroy", fail)
        await service.moved(campaign, "purge", "opt-in-open")
        await service.jobs_done()
        assert (await service.dependencies.store.progress(UUID(campaign))).enrolled == 0


@pytest.mark.parametrize("rows", [0, 1, 9, 10, 11, 20, 25])
async def test_no_row_is_left_whatever_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(campaigns, "_AT_ONCE", 10)
    store = await open_store(str(tmp_path / "service.sqlite"))
    campaign = await opened_for_opt_in(store)
    owners = [report_id(number) * 2 for number in range(rows)]
    await store.add_enrolments(campaign, owners)
    for owner in owners:
        await store.contribute(campaign, a_contribution(owner))
    await store.scrub(campaign)  # nothing is over yet
    assert sum([len(piece) async for piece in store.contributions(campaign)]) == rows
    await publish_list(store, campaign)
    await store.scrub(campaign)
    assert [piece async for piece in store.contributions(campaign)] == []
    assert (await store.progress(campaign)).enrolled == rows
    await moved(store, campaign, Move.PURGE, State.LIST_PUBLISHED)
    await store.scrub(campaign)
    assert (await store.progress(campaign)).enrolled == 0
    await store.close()
