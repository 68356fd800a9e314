"""Reports that arrive while PostgreSQL seals a campaign wait for the seal, and are then refused."""

import asyncio

import asyncpg
import pytest

from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Reason, StoreRefusal
from campaign_stores import opened_for_clients, some_reports
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio
_WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def test_a_report_during_a_seal_is_refused(postgres_server: PostgresServer) -> None:
    address = await postgres_server.fresh_database()
    store = await open_store(address)
    campaign = await opened_for_clients(store)
    sealing, watching = await asyncpg.connect(address), await asyncpg.connect(address)
    async with sealing.transaction():
        await sealing.execute("UPDATE campaigns SET state = 'clients-sealed'")
        report = asyncio.ensure_future(store.add_reports(campaign, some_reports([1])))
        async with asyncio.timeout(30):
            while not report.done() and not await watching.fetchval(_WAITING):
                await asyncio.sleep(0.01)
        assert not report.done()
    with pytest.raises(StoreRefusal, match=Reason.NOT_COLLECTING):
        await report
    assert (await store.report_counts(campaign)).cell_reports == 0
    await sealing.close()
    await watching.close()
    await store.close()
