"""The service's process keeps its locks on the SQLite file as long as the store is open."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite.backup import back_up
from campaign_stores import opened_for_clients, some_reports

pytestmark = pytest.mark.anyio
TESTS = Path(__file__).parents[1]
# In another process: asks the kernel for what SQLite asks for to find out whether it is the last.
CLOSING_PROCESS = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        print("refused")
"""
# In another process, since an audit hook stays for good. SQLite's own opens are not Python's.
WATCHED_SERVICE = """
import asyncio, os, sys
from pathlib import Path

directory = Path(sys.argv[1])
database = os.path.realpath(directory / "service.sqlite")
opened = []

def watch(event, arguments):
    if event in ("open", "sqlite3.connect") and isinstance(arguments[0], (str, bytes, os.PathLike)):
        if os.path.realpath(os.fsdecode(arguments[0])) == database:
            # With O_EXCL nothing that exists is ever opened.
            is_creation = event == "open" and arguments[2] & os.O_EXCL
            opened.append("creation" if is_creation else event)

sys.addaudithook(watch)
from service.running import running
from blender_dp.service.storage.sqlite.backup import back_up

async def main():
    async with running(directory) as service:
        campaign = await service.published()
        answer = await service.send(campaign.campaign, campaign.batch(300))
        assert answer.status_code == 202, answer.text
        await asyncio.to_thread(back_up, Path(database), directory / "copy.sqlite")
        await service.moved(campaign.campaign, "seal-clients", "clients-open")
        await service.jobs_done()
        state = await service.state(campaign.campaign)
        assert state == "released", state

asyncio.run(main())
print(*opened)
"""
# In another process, which has no other database open. Inodes are not compared: on some file
# systems the kernel's list has others than stat.
LISTED_LOCKS = """
import asyncio, os, sys
from pathlib import Path
from blender_dp.service.storage.open_store import open_store

async def main():
    store = await open_store(sys.argv[1])
    await store.require_writable()
    await (await open_store(sys.argv[1])).close()
    for lock in map(str.split, Path("/proc/locks").read_text().splitlines()):
        if lock[1] == "POSIX" and lock[4] == str(os.getpid()) and lock[6] == str(0x40000002):
            print(lock[3])
    await store.close()

asyncio.run(main())
"""


def run_python(code: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert not done.returncode, done.stderr
    return done.stdout


def holds_locks(path: Path) -> bool:
    """Return whether another process that closes the file would notice this one."""
    return run_python(CLOSING_PROCESS, path) == "refused\n"


async def test_other_connections_of_the_process_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "service.sqlite"
    store = await open_store(str(path))
    campaign = await opened_for_clients(store)
    assert holds_locks(path)
    await (await open_store(str(path))).close()
    assert holds_locks(path)
    await asyncio.to_thread(back_up, path, tmp_path / "copy.sqlite")
    await store.add_reports(campaign, some_reports([1, 2]))
    await store.scrub(campaign)
    assert holds_locks(path)
    await store.close()
    assert not holds_locks(path)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists locks")
def test_the_kernel_lists_the_lock_of_the_process(tmp_path: Path) -> None:
    assert run_python(LISTED_LOCKS, tmp_path / "service.sqlite").split() == ["READ"]


def test_nothing_but_sqlite_opens_the_file(tmp_path: Path) -> None:
    """A whole campaign with a backup: created at most, before the first connection."""
    opened = run_python(WATCHED_SERVICE, tmp_path).split()
    assert opened[0] == "creation"
    assert set(opened) == {"creation", "sqlite3.connect"}
