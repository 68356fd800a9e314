"""Condition of the service: whether it can store reports, which jobs wait, free disk space.

The route is public, and a check writes to the disk. Each process therefore checks at most once per
few seconds; requests in the meantime get the last result.
"""

import asyncio
import shutil
import time
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from blender_dp.server.event_log import EventLog
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.keys.key_vault import KeysGoneError
from blender_dp.service.storage.store import Workload

LEAST_FREE_BYTES = 256 * 2**20
"""Free disk space below which the service warns: a few minutes of reports at full speed."""
OVERDUE_AFTER = timedelta(hours=1)
"""A job that has not ended this long after its campaign moved is overdue."""
_VALID_SECONDS = 5.0
_VALID_SECONDS_IN_TROUBLE = 1.0
_LONGEST_WAIT_SECONDS = 0.5
"""How long a request waits for a check that hangs, if there is an earlier result."""
_HANGING_SECONDS = 10.0
"""A check that takes longer means that the database does not answer."""


class Trouble(StrEnum):
    """Reason why the service is degraded; a closed list."""

    STORE_UNREACHABLE = "store-unreachable"
    """The database does not answer."""
    STORE_REFUSES_WRITES = "store-refuses-writes"
    """The database answers but cannot write: its disk is full, or it is read-only."""
    DATABASE_MOVED = "database-moved"
    """The database file was moved or replaced: new data would be missing at the next start."""
    KEYS_GONE = "keys-gone"
    """The directory of keys was removed or replaced since the service started."""
    DISK_ALMOST_FULL = "disk-almost-full"
    """Little disk space is left; reports are still accepted."""


PREVENTS_REPORTS = frozenset(Trouble) - {Trouble.DISK_ALMOST_FULL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Result of one check."""

    troubles: tuple[Trouble, ...]
    workload: Workload | None = None
    """None if the database did not answer."""
    free_bytes: int | None = None
    """None if the service has no directory of its own."""

    @property
    def takes_reports(self) -> bool:
        """Whether a report that is sent now would be stored safely."""
        return not PREVENTS_REPORTS.intersection(self.troubles)


_HANGING = Condition(troubles=(Trouble.STORE_UNREACHABLE,))


class ConditionWatch:
    """Keeps the last condition; checks again when it is requested and too old."""

    def __init__(self, dependencies: Dependencies, event_log: EventLog) -> None:
        self._dependencies, self._event_log = dependencies, event_log
        self._look: asyncio.Task[None] | None = None
        self._began = self._ended = 0.0
        self._last: Condition | None = None

    async def current(self) -> Condition:
        """Return the condition, and set the metrics to it."""
        if self._look is None or (self._look.done() and not self._is_fresh()):
            self._began = time.monotonic()
            self._look = asyncio.create_task(self._check())
        wait = _HANGING_SECONDS if self._last is None else _LONGEST_WAIT_SECONDS
        await asyncio.wait({self._look}, timeout=wait)
        is_hanging = not self._look.done() and time.monotonic() - self._began >= _HANGING_SECONDS
        found = _HANGING if is_hanging or self._last is None else self._last
        self._note(found)
        return found

    def _is_fresh(self) -> bool:
        in_trouble = self._last is None or self._last.troubles
        valid = _VALID_SECONDS_IN_TROUBLE if in_trouble else _VALID_SECONDS
        return time.monotonic() - self._ended < valid

    async def _check(self) -> None:
        troubles: list[Trouble] = []
        workload = None
        now = self._dependencies.now()
        try:
            workload = await self._dependencies.store.workload(
                now=now, overdue_since=now - OVERDUE_AFTER
            )
            if not await self._dependencies.store.is_in_place():
                troubles.append(Trouble.DATABASE_MOVED)
        except Exception as error:  # noqa: BLE001 - whatever it is, the database does not answer
            self._event_log.failure("health", error)
            troubles.append(Trouble.STORE_UNREACHABLE)
        else:
            try:
                await self._dependencies.store.require_writable()
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing can be written
                self._event_log.failure("health", error)
                troubles.append(Trouble.STORE_REFUSES_WRITES)
        try:
            await asyncio.to_thread(self._dependencies.keys.require_in_place)
        except KeysGoneError:
            troubles.append(Trouble.KEYS_GONE)
        free = _free_bytes(self._dependencies.directory)
        if free is not None and free < LEAST_FREE_BYTES:
            troubles.append(Trouble.DISK_ALMOST_FULL)
        self._last = Condition(troubles=tuple(troubles), workload=workload, free_bytes=free)
        self._ended = time.monotonic()

    def _note(self, found: Condition) -> None:
        gauges = self._dependencies.metrics.gauges
        gauges.set_troubles({str(one): one in found.troubles for one in Trouble})
        self._dependencies.metrics.store_is_up(
            is_up=Trouble.STORE_UNREACHABLE not in found.troubles
        )
        if found.workload is not None:
            gauges.set_workload(found.workload)
        if found.free_bytes is not None:
            gauges.set_free_disk(found.free_bytes)


def _free_bytes(directory: Path | None) -> int | None:
    """Return the free bytes on the service's disk."""
    if directory is None:
        return None
    try:
        return shutil.disk_usage(directory).free
    except OSError:  # the directory was removed, which the check of the database finds
        return None
