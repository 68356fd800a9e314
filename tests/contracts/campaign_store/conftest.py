"""Every kind of store, behind one fixture; PostgreSQL is a real server."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.sqlite import older_ids

Opener = Callable[[], Awaitable[DatabaseStore]]


@pytest.fixture(autouse=True)
def ids_move_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQLite move report ids into bundles after three, not after a hundred thousand."""
    monkeypatch.setattr(older_ids, "MOST_RECENT", 3)


@pytest.fixture
async def store(address: str) -> AsyncIterator[DatabaseStore]:
    opened = await open_store(address)
    yield opened
    await opened.close()


@pytest.fixture
async def other_store(address: str) -> AsyncIterator[DatabaseStore]:
    """Return a second store on the same database, as another process would open it."""
    opened = await open_store(address)
    yield opened
    await opened.close()
