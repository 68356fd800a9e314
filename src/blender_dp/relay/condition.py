"""Condition of the relay: whether it can store reports, reach the collector, and has disk space."""

from collections.abc import AsyncIterator
from enum import StrEnum

from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.forwarding import Forwarder
from blender_dp.server.condition import ConditionWatch, is_almost_full
from blender_dp.server.databases.database import UnavailableError


class Trouble(StrEnum):
    """Reason why the relay is degraded; a closed list."""

    STORE_REFUSES_WRITES = "store-refuses-writes"
    """The database does not answer, or its disk is full."""
    COLLECTOR_UNREACHABLE = "collector-unreachable"
    """The collector did not answer when last asked; reports are refused after a minute."""
    DISK_ALMOST_FULL = "disk-almost-full"
    """Little disk space is left; reports are still accepted."""


def condition_watch(dependencies: Dependencies, forwarder: Forwarder) -> ConditionWatch[Trouble]:
    """Return the watch over a relay; without its store a report would not be stored safely."""

    async def troubles() -> AsyncIterator[Trouble]:
        try:
            await dependencies.store.require_writable()
        except UnavailableError:
            yield Trouble.STORE_REFUSES_WRITES
        if not forwarder.is_collector_reachable:
            yield Trouble.COLLECTOR_UNREACHABLE
        if is_almost_full(dependencies.directory):
            yield Trouble.DISK_ALMOST_FULL

    return ConditionWatch(
        Trouble,
        troubles,
        dependencies.metrics.set_trouble,
        fatal=frozenset({Trouble.STORE_REFUSES_WRITES}),
    )
