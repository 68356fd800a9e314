"""Reports in bundles, on either database: all are there, few rows, and none tells an order."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial

import pytest
from relay.running import CAMPAIGN

from blender_dp.relay.storage.bundles import bundled_reports, level_of, put_bundle
from blender_dp.relay.storage.store import SCHEMA, RelayStore
from blender_dp.server.databases.database import Database
from blender_dp.server.databases.open_database import open_database
from blender_dp.server.databases.statements import Row, Statements

pytestmark = pytest.mark.anyio
LENGTH = 5


@pytest.fixture
async def database(address: str) -> AsyncIterator[Database]:
    """Open a database with one campaign."""
    opened = await open_database(address, SCHEMA)
    await RelayStore(opened).add_campaign(
        CAMPAIGN, head_list="", encryption_key="", report_length=LENGTH, least_batch=1
    )
    yield opened
    await opened.close()


async def rows(tx: Statements) -> Sequence[Row]:
    return await tx.rows("SELECT level, id, encrypted FROM bundles WHERE campaign = 1 ORDER BY id")


@pytest.mark.parametrize(
    ("count", "level"), [(1, 0), (15, 0), (16, 1), (255, 1), (256, 2), (4_095, 2), (4_096, 3)]
)
def test_the_level_says_how_large_a_bundle_is(count: int, level: int) -> None:
    assert level_of(count) == level
    assert level_of(10**6) == 3


async def test_small_bundles_become_larger_ones(database: Database) -> None:
    written = [i.to_bytes(LENGTH) for i in range(600)]
    for one in reversed(written):
        await database.write(partial(put_bundle, campaign=1, reports=[one]))
    stored = await database.read(rows)
    # 600 = 2 · 256 + 5 · 16 + 8
    assert Counter(len(row[2]) // LENGTH for row in stored) == {256: 2, 16: 5, 1: 8}
    assert all(row[0] == level_of(len(row[2]) // LENGTH) for row in stored)
    for _, _, packed in stored:
        own = [packed[i : i + LENGTH] for i in range(0, len(packed), LENGTH)]
        assert own == sorted(own)
    found = await database.read(partial(bundled_reports, campaign=1, length=LENGTH))
    assert sorted(found) == written


async def test_the_names_of_bundles_are_random(database: Database) -> None:
    """In order of arrival once in 12!, about 2e-9."""
    for i in range(12):
        await database.write(partial(put_bundle, campaign=1, reports=[i.to_bytes(LENGTH)]))
    stored = await database.read(rows)
    order = [int.from_bytes(row[2]) for row in stored]
    assert sorted(order) == list(range(12))
    assert order != list(range(12))
    assert {len(row[1]) for row in stored} == {16}
