"""Relays on either database; PostgreSQL is a real server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from relay.running import Relay, running

from postgres_server import PostgresServer


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'relay.sqlite'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return await server.fresh_database()


@pytest.fixture
async def relay(tmp_path: Path) -> AsyncIterator[Relay]:
    async with running(tmp_path / "relay.sqlite") as started:
        yield started
