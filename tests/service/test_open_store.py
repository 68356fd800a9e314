"""Which store an address names, and how a wrong address is refused."""

import asyncio
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from blender_dp.core.errors import BlenderError, InputError, ParameterError
from blender_dp.server.databases import sqlite_connection
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Reason, StoreRefusal
from campaign_stores import a_campaign


def opened_and_closed(address: str) -> None:
    async def check() -> None:
        store = await open_store(address)
        await store.put_campaign(a_campaign(), actor="ada")
        await store.close()

    asyncio.run(check())


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_path_is_a_sqlite_file_that_only_its_owner_reads(tmp_path: Path, form: str) -> None:
    path = tmp_path / "campaigns.sqlite"
    opened_and_closed(form.format(path))
    assert path.read_bytes().startswith(b"SQLite format 3")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_relative_path_may_follow_the_third_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opened_and_closed("sqlite:///campaigns.sqlite")
    assert (tmp_path / "campaigns.sqlite").is_file()


@pytest.mark.parametrize(
    "address", ["mysql://ada:secret@host/name", "sqlite://campaigns.sqlite", "http://secret"]
)
def test_any_other_address_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(ParameterError, match="database must be a path") as error:
        asyncio.run(open_store(address))
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:secret@127.0.0.1:1/name",
        "postgres://ada:secret@/name?host=/nowhere",
        "postgresql://ada:secret@127.0.0.1:not-a-port/name",
    ],
)
def test_a_server_that_does_not_answer_is_named_in_one_sentence(address: str) -> None:
    with pytest.raises(BlenderError, match="must be a PostgreSQL server that answers") as error:
        asyncio.run(open_store(address))
    assert "secret" not in str(error.value)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        asyncio.run(open_store(str(tmp_path / "missing" / "campaigns.sqlite")))


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes " * 1000)
    with pytest.raises(InputError, match="is not a usable SQLite database"):
        asyncio.run(open_store(str(path)))
    assert path.read_text() == "my notes " * 1000


def test_a_file_that_another_process_holds_at_the_start_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "campaigns.sqlite"
    opened_and_closed(str(path))
    monkeypatch.setattr(sqlite_connection, "_PATIENCE_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match=r"cannot be used now \(database is locked\)"):
            asyncio.run(open_store(str(path)))


def test_a_file_that_another_process_holds_is_an_overload_not_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "_PATIENCE_SECONDS", 0.05)
    path = tmp_path / "campaigns.sqlite"

    async def check() -> None:
        store = await open_store(str(path))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreRefusal, match=Reason.OVERLOADED):
                await store.put_campaign(a_campaign(), actor="ada")
            assert await store.tokens() == []
        await store.put_campaign(a_campaign(), actor="ada")
        assert len(await store.campaigns(after=None, limit=10)) == 1
        await store.close()

    asyncio.run(check())
