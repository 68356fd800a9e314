"""Report ids that left the tree for bundles count once, and go with their campaign."""

import asyncio
import math
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np
import pytest

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.server.databases.sqlite_connection import connect
from blender_dp.server.databases.sqlite_statements import run_synchronously
from blender_dp.server.databases.statements import no_checkpoint
from blender_dp.service.campaign import JobKind, Move, State
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite import id_index, older_ids, writer
from blender_dp.service.storage.sqlite.database import SqliteDatabase, migrate
from blender_dp.service.storage.sqlite.id_index import RUN_BYTES, IdIndex
from blender_dp.service.storage.sqlite.older_ids import OlderIds
from blender_dp.service.storage.sqlite.transaction import SqliteTransaction
from blender_dp.service.storage.store import Reason, StoreRefusal
from blender_dp.wire.reports.packed_items import pieces
from blender_dp.wire.reports.service_report import ID_BYTES, NamedItems
from campaign_stores import NOW, a_release, leased, moved, opened_for_clients

pytestmark = pytest.mark.anyio
RECENT = 50
BEFORE_BUNDLES = 5
"""Version of the schema without bundles."""


@pytest.fixture(autouse=True)
def ids_move_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older_ids, "MOST_RECENT", RECENT)


def reports(ids: Sequence[bytes], tag: bytes = b"the same") -> CheckedReports:
    items = np.zeros((len(ids), 1), dtype=np.int64)
    answer = NamedItems(question="record", reports=np.arange(len(ids)), items=items)
    return CheckedReports(ids=b"".join(ids), tags=tag * len(ids), answers=[answer])


def some_ids(random: Random, count: int) -> list[bytes]:
    return [random.randbytes(ID_BYTES) for _ in range(count)]


def in_tables(path: Path) -> tuple[int, int]:
    """Return the number of ids in the tree and in bundles."""
    with closing(sqlite3.connect(path)) as connection:
        (tree,) = connection.execute("SELECT count(*) FROM report_ids").fetchone()
        (bundled,) = connection.execute(
            "SELECT coalesce(sum(length(reports)), 0) / 24 FROM older_report_ids"
        ).fetchone()
    return int(tree), int(bundled)


def run_sizes(path: Path) -> list[int]:
    """Return the number of ids in each run of bundles."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT sum(length(reports)) / 24 FROM older_report_ids GROUP BY substr(bundle, 1, 8)"
        )
        return [size for (size,) in rows]


async def test_two_stores_on_one_file_count_each_id_once(tmp_path: Path, seed: int) -> None:
    """Both move ids; what one has moved, the other recognises, also after it was opened again.

    A smaller run would tell which reports came together.
    """
    path, random = tmp_path / "service.sqlite", Random(seed)
    stores = [await open_store(str(path)) for _ in range(2)]
    campaign = await opened_for_clients(stores[0])
    known: set[bytes] = set()
    for number in range(60):
        repeated = random.sample(sorted(known), min(len(known), random.randrange(4)))
        new = some_ids(random, random.randrange(1, 20))
        batch = random.sample([*repeated, *new], len(repeated) + len(new))
        added = await stores[number % 2].add_reports(campaign, reports(batch))
        assert added == Added(accepted=len(new), repeated=len(repeated))
        known.update(new)
        if repeated:
            with pytest.raises(StoreRefusal, match=Reason.REPORT_ID_REUSED):
                await stores[number % 2].add_reports(campaign, reports(repeated, b"another!"))
        if number == 30:
            await stores[1].close()
            stores[1] = await open_store(str(path))
    asked = b"".join([*known, *some_ids(random, 100)])
    assert await stores[0].known_report_ids(campaign, asked) == known
    assert (await stores[0].report_counts(campaign)).cell_reports == len(known)
    tree, bundled = in_tables(path)
    assert (tree + bundled, tree <= 2 * RECENT) == (len(known), True)
    assert set(run_sizes(path)) == {RECENT}
    for store in stores:
        await store.close()


async def test_a_move_that_fails_loses_no_id(tmp_path: Path, seed: int) -> None:
    """The tree has it again, and the memory holds nothing that the file has not."""
    is_failing = False

    def reach(point: str) -> None:
        if is_failing and point == "before-commit":
            raise RuntimeError("the disk is full")

    path, random = tmp_path / "service.sqlite", Random(seed)
    database = SqliteDatabase(path, reach=reach)
    store = DatabaseStore(database)
    campaign = await opened_for_clients(store)
    kept, lost, moving = some_ids(random, RECENT), some_ids(random, 9), some_ids(random, 30)
    await store.add_reports(campaign, reports(kept))
    is_failing = True
    for _ in range(3):
        with pytest.raises(RuntimeError, match="full"):
            await store.add_reports(campaign, reports(lost))
    is_failing = False
    assert not database._older._indexes
    assert in_tables(path) == (RECENT, 0)
    every = [*kept, *lost, *moving]
    assert await store.add_reports(campaign, reports(every)) == Added(accepted=39, repeated=RECENT)
    assert await store.add_reports(campaign, reports(every)) == Added(
        accepted=0, repeated=len(every)
    )
    assert in_tables(path) == (39, RECENT)
    await store.close()


async def test_a_transaction_that_began_before_a_move_knows_all_ids(
    tmp_path: Path, seed: int
) -> None:
    path, random = tmp_path / "service.sqlite", Random(seed)
    store = await open_store(str(path))
    campaign = await opened_for_clients(store)
    ids = some_ids(random, RECENT)
    await store.add_reports(campaign, reports(ids))
    older = OlderIds()
    with closing(connect(path, is_reader=True)) as before, closing(connect(path)) as after:
        before.execute("BEGIN")
        assert before.execute("SELECT count(*) FROM report_ids").fetchone() == (RECENT,)
        await store.add_reports(campaign, reports(some_ids(random, 1)))
        for connection in (after, before):  # in memory, the newer state comes first
            tx = SqliteTransaction(connection, no_checkpoint, older)
            assert run_synchronously(tx.known_tags(1, b"".join(ids))).keys() == set(ids)
    await store.close()


async def test_a_database_of_an_earlier_version_keeps_its_ids(tmp_path: Path, seed: int) -> None:
    """A large tree becomes small, as many ids at a time as move otherwise; and it goes back."""
    path, random = tmp_path / "service.sqlite", Random(seed)
    store = await open_store(str(path))
    campaign = await opened_for_clients(store)
    await store.close()
    ids = some_ids(random, 5 * RECENT)
    with closing(connect(path)) as connection:
        migrate(connection, BEFORE_BUNDLES)
        rows = [(id_, b"the same") for id_ in ids]
        connection.executemany("INSERT INTO report_ids VALUES (1, ?, ?)", rows)
    store = await open_store(str(path))
    more = some_ids(random, 8)
    for id_ in more:
        assert await store.add_reports(campaign, reports([id_])) == Added(accepted=1, repeated=0)
    every = [*ids, *more]
    assert await store.known_report_ids(campaign, b"".join(every)) == set(every)
    assert in_tables(path) == (RECENT + 8 - RECENT, 5 * RECENT)
    await store.close()
    with closing(connect(path)) as connection:
        migrate(connection, BEFORE_BUNDLES)
        found = connection.execute("SELECT id, tag FROM report_ids").fetchall()
    assert sorted(found) == sorted((id_, b"the same") for id_ in every)


async def test_bundles_do_not_say_in_which_order_ids_came(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    ids = some_ids(random, RECENT + 1)
    contents: list[list[tuple[bytes, bytes]]] = []
    for order in (ids, random.sample(ids, len(ids))):
        path = tmp_path / f"{len(contents)}.sqlite"
        store = await open_store(str(path))
        campaign = await opened_for_clients(store)
        for some in pieces(b"".join(order), 3 * ID_BYTES):
            await store.add_reports(campaign, reports(pieces(some, ID_BYTES)))
        await store.close()
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT substr(bundle, 9), reports FROM older_report_ids")
            contents.append(rows.fetchall())
    assert contents[0] == contents[1] != []


async def test_a_release_leaves_none_of_them(tmp_path: Path, seed: int) -> None:
    """Neither the files nor the memory keep an id; another campaign's ids stay."""
    path, random = tmp_path / "service.sqlite", Random(seed)
    store = await open_store(str(path))
    assert isinstance(store.database, SqliteDatabase)
    campaign, other = await opened_for_clients(store), await opened_for_clients(store)
    ids, others = some_ids(random, 3 * RECENT), some_ids(random, RECENT + 1)
    for some in pieces(b"".join(ids), 20 * ID_BYTES):
        await store.add_reports(campaign, reports(pieces(some, ID_BYTES)))
    await store.add_reports(other, reports(others))
    assert any(id_ in path.read_bytes() + wal(path) for id_ in ids)
    await moved(store, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    await store.finish(await leased(store, JobKind.RELEASE), a_release(), now=NOW)
    await store.scrub(campaign)
    assert not [id_ for id_ in ids if id_ in path.read_bytes() + wal(path)]
    assert await store.known_report_ids(other, b"".join(others)) == set(others)
    assert list(store.database._older._indexes) == [2]
    await store.close()


@pytest.mark.parametrize("seconds", [0.0, math.inf])
async def test_memory_of_a_campaign_that_ended_elsewhere_goes_while_only_reports_come(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """With the twin that never looks again."""
    monkeypatch.setattr(writer, "_FORGET_SECONDS", seconds)
    path, random = str(tmp_path / "service.sqlite"), Random(seed)
    store, elsewhere = await open_store(path), await open_store(path)
    assert isinstance(store.database, SqliteDatabase)
    campaign, other = await opened_for_clients(store), await opened_for_clients(store)
    for _ in range(2):
        await store.add_reports(campaign, reports(some_ids(random, RECENT + 1)))
    await moved(elsewhere, campaign, Move.SEAL_CLIENTS, State.CLIENTS_OPEN)
    await elsewhere.finish(await leased(elsewhere, JobKind.RELEASE), a_release(), now=NOW)
    assert list(store.database._older._indexes) == [1]
    await store.add_reports(other, reports(some_ids(random, 1)))
    assert list(store.database._older._indexes) == ([1] if seconds else [])
    for one in (store, elsewhere):
        await one.close()


def wal(path: Path) -> bytes:
    beside = path.with_name(path.name + "-wal")
    return beside.read_bytes() if beside.exists() else b""


async def test_waiting_requests_that_cross_the_limit_together_are_counted(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    store = await open_store(str(tmp_path / "service.sqlite"))
    campaign = await opened_for_clients(store)
    batches = [some_ids(random, 7) for _ in range(40)]
    twice = [store.add_reports(campaign, reports(batch)) for batch in batches * 2]
    answers = await asyncio.gather(*twice)
    assert sum(added.accepted for added in answers) == 280
    assert sum(added.repeated for added in answers) == 280
    await store.close()


async def test_a_campaign_without_bundles_makes_no_index(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making one would cost every transaction a quarter of a millisecond."""
    monkeypatch.setattr(older_ids, "IdIndex", None)
    store = await open_store(str(tmp_path / "service.sqlite"))
    campaign = await opened_for_clients(store)
    ids = some_ids(Random(seed), RECENT)
    assert await store.add_reports(campaign, reports(ids)) == Added(accepted=RECENT, repeated=0)
    assert await store.known_report_ids(campaign, b"".join(ids)) == set(ids)
    await store.close()


def test_the_index_finds_every_id_in_the_right_bundle(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whatever was merged, and however often the bitmap grew; an id in two runs is found twice."""
    monkeypatch.setattr(id_index, "_LONGEST", 300)
    monkeypatch.setattr(id_index, "_LEAST_BITS", 8)
    index, random = IdIndex(), Random(seed)
    expected: dict[bytes, set[bytes]] = {}
    for _ in range(40):
        run, ids = os.urandom(RUN_BYTES), some_ids(random, random.randrange(1, 80))
        ids += random.sample(sorted(expected), min(len(expected), 3))
        places = [random.randrange(4000) for _ in ids]
        index.add(run, b"".join(ids), np.array(places))
        assert run in index
        for id_, place in zip(ids, places, strict=True):
            expected.setdefault(id_, set()).add(run + place.to_bytes(4, "big"))
    asked = random.sample(sorted(expected), len(expected))
    found: dict[bytes, set[bytes]] = {}
    for position, bundle in index.find(b"".join(asked)):
        found.setdefault(asked[position], set()).add(bundle)
    assert found == expected
    # 2,000 ids and 10,000 others have a pair of equal 36-bit hashes with a chance of 3 in 10,000;
    # three of them, with one of 1e-11.
    assert len(list(index.find(os.urandom(10_000 * ID_BYTES)))) <= 2


def test_the_index_refuses_runs_that_a_word_cannot_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of one more run would be looked up in another and count again."""
    monkeypatch.setattr(id_index, "_RUN_BITS", 2)
    index, place = IdIndex(), np.zeros(1, dtype=np.int64)
    runs = [os.urandom(RUN_BYTES) for _ in range(5)]
    for run in runs[:4]:
        index.add(run, os.urandom(ID_BYTES), place)
    with pytest.raises(BrokenInvariantError, match="at most 4 runs"):
        index.add(runs[4], os.urandom(ID_BYTES), place)
    assert [run in index for run in runs] == [True, True, True, True, False]
