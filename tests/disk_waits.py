"""What a test sees of every wait for the disk."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import get_ident
from typing import TypeVar

import pytest

Seen = TypeVar("Seen")


def watch_disk_waits(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[], Seen]
) -> list[tuple[int, Seen]]:
    """Return a list that gets, at every ``fsync``, the inode and what ``look`` sees then.

    A killed process cannot show that a wait is missing: what it wrote stays with the system.
    """
    waits: list[tuple[int, Seen]] = []
    wait, own_thread = os.fsync, get_ident()

    def watched(descriptor: int) -> None:
        wait(descriptor)
        if get_ident() == own_thread:
            waits.append((os.fstat(descriptor).st_ino, look()))

    monkeypatch.setattr(os, "fsync", watched)
    return waits


def inode(path: Path) -> int:
    return path.stat().st_ino
