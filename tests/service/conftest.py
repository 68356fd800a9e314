"""One service for the tests of a file, and a fresh one for those that change it for good."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from service.running import Published, Service, running


@pytest.fixture(scope="module")
async def service(
    anyio_backend: str,  # noqa: ARG001 - makes the loop last as long as the service
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Service]:
    async with running(tmp_path_factory.mktemp("service")) as started:
        yield started


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[Service]:
    async with running(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
async def published(service: Service) -> Published:
    """Return a campaign under subset selection that takes reports; nobody seals it."""
    return await service.published()
