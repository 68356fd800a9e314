"""Every kind of store, behind one fixture; PostgreSQL is a real server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from postgres_server import PostgresServer

Opener = Callable[[], Awaitable[DatabaseStore]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'campaigns.sqlite'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return await server.fresh_database()


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
