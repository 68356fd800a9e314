"""SQLite's threads live on whatever error a statement ends with, and tell no wrong outcome."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable
from contextlib import closing
from pathlib import Path

import pytest

from blender_dp.server.databases.statements import Answer
from blender_dp.service.http.reports.checked_reports import Added
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.sqlite import older_ids, writer
from blender_dp.service.storage.sqlite.database import SqliteDatabase
from blender_dp.service.storage.store import Reason, StoreRefusal
from campaign_stores import opened_for_clients, some_reports

pytestmark = pytest.mark.anyio


async def one(tx: Transaction) -> object:
    ((number,),) = await tx.rows("SELECT 1")
    return number


async def undecodable(tx: Transaction) -> object:
    """Ask for text that is not UTF-8: Python's error, to which SQLite gives no name."""
    return await tx.rows("SELECT CAST(x'ff' AS TEXT)")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "service.sqlite")
    yield database
    await database.close()


async def soon(answer: Awaitable[Answer]) -> Answer:
    return await asyncio.wait_for(answer, 10)


async def test_an_error_without_a_name_is_refused_and_the_threads_live(
    database: SqliteDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    for run in (database.write, database.read):
        with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
            await soon(run(undecodable))
        assert await soon(run(one)) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "nothing could be written: OperationalError",
        "nothing could be read: OperationalError",
    ]


async def test_a_log_that_cannot_be_emptied_stops_no_write(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite refuses the checkpoint with an error that is not an OperationalError."""
    monkeypatch.setattr(writer, "_RETRY_SECONDS", 0.01)
    assert await soon(database.write(one)) == 1
    connection = database._writer._connection

    def authorize(_action: int, name: str | None, *_others: object) -> int:
        return sqlite3.SQLITE_DENY if name == "wal_checkpoint" else sqlite3.SQLITE_OK

    connection.set_authorizer(authorize)
    database.scrub_soon()
    assert await soon(database.write(one)) == 1
    async with asyncio.timeout(10):
        while not caplog.records:
            await asyncio.sleep(0.01)
    connection.set_authorizer(None)
    assert caplog.messages[0] == "the log could not be emptied: SQLITE_AUTH"
    assert await soon(database.write(one)) == 1


async def test_a_transaction_of_reports_alone_needs_no_temporary_file(tmp_path: Path) -> None:
    """SQLite keeps the pages that an undone attempt would bring back; of reports these are few."""
    in_memory: list[bool] = []

    def reach(point: str) -> None:
        if point == "before-commit":
            ((kind,),) = opened._writer._connection.execute("PRAGMA temp_store")
            in_memory.append(kind == 2)

    opened = SqliteDatabase(tmp_path / "service.sqlite", reach=reach)
    store = DatabaseStore(opened)
    campaign = await opened_for_clients(store)
    assert not any(in_memory)
    in_memory.clear()
    await store.add_reports(campaign, some_reports(range(5)))
    await soon(opened.write(one))
    assert in_memory == [True, False]
    await store.close()


async def test_a_committed_write_is_never_called_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory of ended campaigns is given up after the commit: an error there is no outcome."""
    monkeypatch.setattr(older_ids, "MOST_RECENT", 3)
    monkeypatch.setattr(writer, "_FORGET_SECONDS", 0.0)
    path, is_failing = tmp_path / "service.sqlite", False

    def reach(point: str) -> None:
        if is_failing and point == "after-commit":
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("ALTER TABLE older_report_ids RENAME TO elsewhere")

    store = DatabaseStore(SqliteDatabase(path, reach=reach))
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports(range(5)))
    is_failing = True
    added = await store.add_reports(campaign, some_reports(range(5, 10)))
    assert added == Added(accepted=5, repeated=0)
    assert (await store.report_counts(campaign)).cell_reports == 10
    await store.close()
