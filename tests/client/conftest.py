"""A stand-in service, a clock, and devices."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from client.stand_in import Clock, StandIn, standing_in

from blender_dp.client import BlenderClient
from blender_dp.client.patience import Patience
from blender_dp.client.transport import HttpTransport

MakeDevice = Callable[..., BlenderClient]


@pytest.fixture
def service() -> Iterator[StandIn]:
    with standing_in() as running:
        yield running


@pytest.fixture(scope="session")
def connection() -> Iterator[httpx.Client]:
    """One for all tests: to make its TLS settings takes longer than a test."""
    with httpx.Client(timeout=10.0, trust_env=False) as client:
        yield client


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_device(
    service: StandIn, clock: Clock, connection: httpx.Client, tmp_path: Path
) -> MakeDevice:
    """Return devices that share a ledger, as one device that is started again does."""

    def make(**options: Any) -> BlenderClient:
        transport = HttpTransport(
            service.url, client=connection, patience=Patience(attempts=3), sleep=lambda _: None
        )
        given = {"transport": transport, "now": clock, **options}
        return BlenderClient(service.url, tmp_path / "device", **given)

    return make
