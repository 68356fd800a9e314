"""Condition of a small server: what is wrong with it, and whether it still works.

The route is public, and a check writes to the disk. So it is made at most once per few seconds;
requests in the meantime get the last result.
"""

import shutil
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

LEAST_FREE_BYTES = 256 * 2**20
_VALID_SECONDS = 5.0
Trouble = TypeVar("Trouble", bound=StrEnum)


class SetTrouble(Protocol):
    """Sets a figure to whether there is a trouble."""

    def __call__(self, reason: str, *, is_so: bool) -> None:
        """Set it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition(Generic[Trouble]):
    """Result of one check."""

    troubles: tuple[Trouble, ...]
    is_working: bool
    """Whether a request that comes now would be answered as it should."""

    def document(self) -> dict[str, Any]:
        """Return the answer of the health route."""
        return {
            "status": "degraded" if self.troubles else "ok",
            "reasons": [str(trouble) for trouble in self.troubles],
            "version": version("blender-dp"),
        }


class ConditionWatch(Generic[Trouble]):
    """Keeps the last condition; checks again when it is requested and too old."""

    def __init__(
        self,
        known: type[Trouble],
        find_troubles: Callable[[], AsyncIterator[Trouble]],
        set_trouble: SetTrouble,
        *,
        fatal: frozenset[Trouble],
    ) -> None:
        """Keep what it works with.

        Args:
            known: The closed list of troubles.
            find_troubles: Makes one check.
            set_trouble: Sets the figure of a trouble.
            fatal: Troubles with which the server does not work.
        """
        self._known, self._find, self._set = known, find_troubles, set_trouble
        self._fatal = fatal
        self._last: Condition[Trouble] | None = None
        self._checked = 0.0

    async def current(self) -> Condition[Trouble]:
        """Return the condition, and set the metrics to it."""
        if self._last is None or time.monotonic() - self._checked > _VALID_SECONDS:
            found = tuple([one async for one in self._find()])
            self._last = Condition(troubles=found, is_working=self._fatal.isdisjoint(found))
            self._checked = time.monotonic()
            for trouble in self._known:
                self._set(trouble, is_so=trouble in found)
        return self._last


def is_almost_full(directory: Path | None) -> bool:
    """Tell whether little disk space is left in a directory, if there is one."""
    return directory is not None and shutil.disk_usage(directory).free < LEAST_FREE_BYTES
