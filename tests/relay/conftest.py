"""Relays on either database; PostgreSQL is a real server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from relay.running import Relay, running


@pytest.fixture
async def relay(tmp_path: Path) -> AsyncIterator[Relay]:
    async with running(tmp_path / "relay.sqlite") as started:
        yield started
