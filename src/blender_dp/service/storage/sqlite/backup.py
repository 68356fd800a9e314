"""Backup of the database file while the service runs."""

import sqlite3
from contextlib import closing
from pathlib import Path

from blender_dp.core.errors import InputError
from blender_dp.server.databases.sqlite_connection import connect
from blender_dp.wire.documents.sqlite_file import create_private_file
from blender_dp.wire.documents.staging import sync

_PAGES_AT_ONCE = 4096
"""Pages copied at once; the service may write between two pieces."""


def back_up(source: Path, destination: Path) -> None:
    """Write a complete and consistent copy of a store.

    Keys are not in it. To restore the copy, put it in the place of the store's file.

    Args:
        source: The store's file; other processes may have it open.
        destination: A file that does not exist yet.
    """
    if not source.is_file():
        raise InputError(source, "no such file")
    try:
        is_new = create_private_file(destination)
    except OSError as error:
        raise InputError(destination, f"cannot be written ({error.strerror})") from None
    if not is_new:
        raise InputError(destination, "exists already; choose another name")
    try:
        with closing(connect(source, is_reader=True)) as live:
            _copy(live, destination)
    except BaseException:
        destination.unlink()
        raise


def _copy(live: sqlite3.Connection, destination: Path) -> None:
    with closing(sqlite3.connect(destination)) as copy:
        live.backup(copy, pages=_PAGES_AT_ONCE)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, with no log beside it
    sync(destination)
    sync(destination.parent)
