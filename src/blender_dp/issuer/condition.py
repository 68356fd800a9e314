"""Condition of the issuer: whether it can store, ask the collector and the login, and has space."""

from collections.abc import AsyncIterator, Callable
from enum import StrEnum

from blender_dp.issuer.campaigns import Campaigns
from blender_dp.issuer.dependencies import Dependencies
from blender_dp.server.condition import ConditionWatch, is_almost_full
from blender_dp.server.databases.database import UnavailableError


class Trouble(StrEnum):
    """Reason why the issuer is degraded; a closed list."""

    STORE_REFUSES_WRITES = "store-refuses-writes"
    """The database does not answer, or its disk is full; no token is issued."""
    COLLECTOR_UNREACHABLE = "collector-unreachable"
    """The collector did not answer when last asked; campaigns are refused after a minute."""
    LOGIN_UNREACHABLE = "login-unreachable"
    """The login's server did not answer when last asked; people are told to try again."""
    DISK_ALMOST_FULL = "disk-almost-full"
    """Little disk space is left; tokens are still issued."""


def condition_watch(
    dependencies: Dependencies, campaigns: Campaigns, is_login_reachable: Callable[[], bool]
) -> ConditionWatch[Trouble]:
    """Return the watch over an issuer."""

    async def troubles() -> AsyncIterator[Trouble]:
        try:
            await dependencies.store.require_writable()
        except UnavailableError:
            yield Trouble.STORE_REFUSES_WRITES
        if not campaigns.is_collector_reachable:
            yield Trouble.COLLECTOR_UNREACHABLE
        if not is_login_reachable():
            yield Trouble.LOGIN_UNREACHABLE
        if is_almost_full(dependencies.directory):
            yield Trouble.DISK_ALMOST_FULL

    return ConditionWatch(
        Trouble,
        troubles,
        dependencies.metrics.set_trouble,
        fatal=frozenset({Trouble.STORE_REFUSES_WRITES}),
    )
