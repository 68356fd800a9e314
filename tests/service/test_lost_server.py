"""PostgreSQL goes away and comes back: nothing is acknowledged that is not there."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import asyncpg
import pytest

from blender_dp.service.http.reports.checked_reports import Added
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Reason, StoreRefusal
from campaign_stores import opened_for_clients, some_reports
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio
UPLOADERS, EACH = 24, 60
Disturbance = Callable[[], Awaitable[None]]


async def uploaded_through(
    store: DatabaseStore, campaign: UUID, disturb: Disturbance
) -> tuple[int, set[Reason]]:
    """Upload while the server is disturbed; who is refused tries again with the same id."""
    accepted = 0
    refused: set[Reason] = set()
    begun = asyncio.Event()

    async def upload(uploader: int) -> None:
        nonlocal accepted
        for i in range(EACH):
            report = some_reports([uploader * EACH + i], cells=[0])
            added = await until_added(report)
            assert added.accepted + added.repeated == 1
            accepted += 1
            if accepted > UPLOADERS:
                begun.set()

    async def until_added(report: object) -> Added:
        while True:
            try:
                return await store.add_reports(campaign, report)  # type: ignore[arg-type]
            except StoreRefusal as refusal:
                refused.add(refusal.reason)
                await asyncio.sleep(0.02)  # as a client waits that was told to

    async def disturb_when_begun() -> None:
        await begun.wait()
        await disturb()

    await asyncio.gather(disturb_when_begun(), *(upload(i) for i in range(UPLOADERS)))
    return accepted, refused


async def assert_survives(store: DatabaseStore, disturb: Disturbance) -> None:
    campaign = await opened_for_clients(store)
    accepted, refused = await uploaded_through(store, campaign, disturb)
    assert accepted == UPLOADERS * EACH
    assert refused == {Reason.OVERLOADED}
    counts = await store.report_counts(campaign)
    assert counts.cell_reports == counts.cells[0] == accepted


async def test_a_server_that_crashes_and_recovers(postgres_server: PostgresServer) -> None:
    store = await open_store(await postgres_server.fresh_database())

    async def crash() -> None:
        await asyncio.to_thread(postgres_server.stop, "immediate")
        with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
            await store.require_writable()
        await asyncio.to_thread(postgres_server.start)

    await assert_survives(store, crash)
    await store.close()


async def test_connections_that_are_cut_again_and_again(postgres_server: PostgresServer) -> None:
    address = await postgres_server.fresh_database()
    store = await open_store(address)

    async def cut() -> None:
        connection = await asyncpg.connect(address)
        for _ in range(8):
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            await asyncio.sleep(0.01)
        await connection.close()

    await assert_survives(store, cut)
    await store.close()
