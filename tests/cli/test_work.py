"""``work --once`` beside a database that has no time: it says so and leaves what waits."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli.outcomes import Command

from blender_dp.service.campaign import Move, State
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite import database as sqlite_database
from blender_dp.service.storage.store import Reason, StoreRefusal
from campaign_stores import moved, opened_for_opt_in


def test_work_says_when_the_database_has_no_time_for_a_job(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup reads: deleted rows cannot leave the files. The job is left, and done later."""
    monkeypatch.setattr(sqlite_database, "_TRIES", 1)
    data = ("--data", tmp_path / "data")
    assert command("work", "--once", *data).status == 0
    [file] = (tmp_path / "data").glob("*.sqlite")
    asyncio.run(purge_a_campaign(file))
    with closing(sqlite3.connect(file, isolation_level=None)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT count(*) FROM jobs").fetchone()
        left = command("work", "--once", *data)
        assert (left.status, left.out) == (1, "")
        lines = [json.loads(line) for line in left.err.splitlines()]
        assert [line.get("outcome") for line in lines if line["event"] == "job"] == ["put-off"]
        assert (lines[-1]["event"], lines[-1]["reason"]) == ("jobs-left", "store-busy")
    done = command("work", "--once", *data)
    assert done.status == 0
    assert '"kind":"erase","outcome":"done"' in done.err
    assert "jobs-left" not in done.err


def test_work_says_when_the_database_has_no_time_at_all(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise StoreRefusal(Reason.OVERLOADED)

    monkeypatch.setattr(DatabaseStore, "lease_job", refuse)
    outcome = command("work", "--once", "--data", tmp_path / "data")
    assert outcome.status == 1
    assert json.loads(outcome.err.splitlines()[-1])["event"] == "jobs-left"


async def purge_a_campaign(file: Path) -> None:
    """Leave a job that erases."""
    store = await open_store(str(file))
    campaign = await opened_for_opt_in(store)
    await moved(store, campaign, Move.PURGE, State.OPT_IN_OPEN)
    await store.close()
