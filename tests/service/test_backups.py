"""A restored backup is a store that works."""

import asyncio
import re
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from blender_dp.cli.service_options import ServiceOptions
from blender_dp.core.errors import InputError
from blender_dp.service.http.reports.checked_reports import Added
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite.backup import back_up
from blender_dp.service.storage.store import Chain
from campaign_stores import NOW, opened_for_clients, some_reports
from postgres_server import PostgresServer

pytestmark = pytest.mark.anyio
GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "back-up-the-service.md"
Backup = Callable[[str], Awaitable[str]]


async def assert_restored_works(address: str, restored: Backup) -> None:
    store = await open_store(address)
    campaign = await opened_for_clients(store)
    await store.add_reports(campaign, some_reports([1, 2, 3], cells=[0, 1, 1]))
    copy = await open_store(await restored(address))
    await store.add_reports(campaign, some_reports([4], cells=[0]))
    assert await copy.campaign(campaign) == await store.campaign(campaign)
    assert (await copy.report_counts(campaign)).cells.tolist() == [1, 2, 0, 0, 0, 0, 0]
    again = await copy.add_reports(campaign, some_reports([3, 4], cells=[1, 0]))
    assert again == Added(accepted=1, repeated=1)
    await copy.note("restored", actor="ada", campaign_id=None, now=NOW)
    entries = await copy.log_entries(Chain.AUDIT, start=0, limit=100)
    assert [entry["index"] for entry in entries] == list(range(len(entries)))
    await copy.close()
    await store.close()


async def test_a_copy_of_a_sqlite_file_taken_while_it_is_open(tmp_path: Path) -> None:
    async def restored(address: str) -> str:
        back_up(Path(address), tmp_path / "copy.sqlite")
        assert stat.S_IMODE((tmp_path / "copy.sqlite").stat().st_mode) == 0o600
        assert not (tmp_path / "copy.sqlite-wal").exists()
        return str(tmp_path / "copy.sqlite")

    await assert_restored_works(str(tmp_path / "campaigns.sqlite"), restored)


async def test_a_dump_of_postgresql_read_into_an_empty_database(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    async def restored(address: str) -> str:
        postgres_server.dump(address, tmp_path / "dump.sql")
        fresh = await postgres_server.fresh_database()
        postgres_server.restore(fresh, tmp_path / "dump.sql")
        return fresh

    await assert_restored_works(await postgres_server.fresh_database(), restored)


async def test_a_copy_taken_during_writes_is_of_one_moment(tmp_path: Path) -> None:
    path, copy_path = tmp_path / "campaigns.sqlite", tmp_path / "copy.sqlite"
    store = await open_store(str(path))
    campaign = await opened_for_clients(store)
    copying = asyncio.ensure_future(asyncio.to_thread(back_up, path, copy_path))
    sent = 0
    while not copying.done() or sent < 50:
        await store.add_reports(campaign, some_reports([sent], cells=[0]))
        sent += 1
    await copying
    await store.close()
    copy = await open_store(str(copy_path))
    counted = (await copy.report_counts(campaign)).cell_reports
    again = await copy.add_reports(campaign, some_reports(range(sent), cells=[0] * sent))
    assert again == Added(accepted=sent - counted, repeated=counted)
    await copy.close()


def test_the_guide_backs_up_the_file_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = ServiceOptions()
    storage.data.mkdir()
    asyncio.run(_made(Path(storage.url)))
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    exec(code, {})  # noqa: S102 - from our own page
    (copy,) = tmp_path.glob("*.sqlite")
    asyncio.run(_made(copy))


def test_an_earlier_backup_is_never_overwritten(tmp_path: Path) -> None:
    asyncio.run(_made(tmp_path / "campaigns.sqlite"))
    (tmp_path / "copy").write_text("yesterday's")
    with pytest.raises(InputError, match="exists already"):
        back_up(tmp_path / "campaigns.sqlite", tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == "yesterday's"


def test_a_backup_of_nothing_or_to_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        back_up(tmp_path / "missing", tmp_path / "copy")
    (tmp_path / "notes").write_text("no database " * 1000)
    with pytest.raises(InputError, match="is not a usable SQLite database"):
        back_up(tmp_path / "notes", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    with pytest.raises(InputError, match="cannot be written"):
        back_up(tmp_path / "notes", tmp_path / "missing" / "copy")


async def _made(path: Path) -> None:
    await (await open_store(str(path))).close()
