"""Condition of the relay: whether it can store reports, reach the collector, and has disk space.

The route is public, and a check writes to the disk. So it is made at most once per few seconds;
requests in the meantime get the last result.
"""

import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from typing import Any

from blender_dp.relay.dependencies import Dependencies
from blender_dp.relay.forwarding import Forwarder
from blender_dp.relay.storage.database import UnavailableError

LEAST_FREE_BYTES = 256 * 2**20
_VALID_SECONDS = 5.0


class Trouble(StrEnum):
    """Reason why the relay is degraded; a closed list."""

    STORE_REFUSES_WRITES = "store-refuses-writes"
    """The database does not answer, or its disk is full."""
    COLLECTOR_UNREACHABLE = "collector-unreachable"
    """The collector did not answer when last asked; reports are refused after a minute."""
    DISK_ALMOST_FULL = "disk-almost-full"
    """Little disk space is left; reports are still accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Result of one check."""

    troubles: tuple[Trouble, ...]

    @property
    def takes_reports(self) -> bool:
        """Whether a report that is sent now would be stored safely."""
        return Trouble.STORE_REFUSES_WRITES not in self.troubles

    def document(self) -> dict[str, Any]:
        """Return the answer of the health route."""
        return {
            "status": "degraded" if self.troubles else "ok",
            "reasons": [str(trouble) for trouble in self.troubles],
            "version": version("blender-dp"),
        }


class ConditionWatch:
    """Keeps the last condition; checks again when it is requested and too old."""

    def __init__(self, dependencies: Dependencies, forwarder: Forwarder) -> None:
        self._parts, self._forwarder = dependencies, forwarder
        self._last: Condition | None = None
        self._checked = 0.0

    async def current(self) -> Condition:
        """Return the condition, and set the metrics to it."""
        if self._last is None or time.monotonic() - self._checked > _VALID_SECONDS:
            self._last = Condition(troubles=tuple([one async for one in self._troubles()]))
            self._checked = time.monotonic()
            for trouble in Trouble:
                self._parts.metrics.set_trouble(trouble, is_so=trouble in self._last.troubles)
        return self._last

    async def _troubles(self) -> AsyncIterator[Trouble]:
        try:
            await self._parts.store.require_writable()
        except UnavailableError:
            yield Trouble.STORE_REFUSES_WRITES
        if not self._forwarder.is_collector_reachable:
            yield Trouble.COLLECTOR_UNREACHABLE
        directory = self._parts.directory
        if directory is not None and shutil.disk_usage(directory).free < LEAST_FREE_BYTES:
            yield Trouble.DISK_ALMOST_FULL
