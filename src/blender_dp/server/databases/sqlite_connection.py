"""Connections to the database file, with the settings for durability and deletion."""

import sqlite3
from pathlib import Path

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.wire.documents.sqlite_file import create_private_file

_OLDEST = (3, 37)
"""Oldest SQLite with STRICT tables; RETURNING came earlier."""
_PATIENCE_SECONDS = 20
"""Longest wait while another process locks the file."""


def connect(path: Path, *, is_reader: bool = False) -> sqlite3.Connection:
    """Open the file; create it if it is missing, readable by its owner only.

    Python never opens it: closing another descriptor would drop the locks of all connections.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise BlenderError(f"SQLite must be 3.37 or newer; Python has {sqlite3.sqlite_version}")
    try:
        create_private_file(path)
        connection = sqlite3.connect(
            path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.OperationalError as error:
        raise InputError(path, f"cannot be opened ({error})") from None
    except OSError as error:
        raise InputError(path, f"cannot be opened ({error.strerror})") from None
    try:
        _set_up(connection, is_reader=is_reader)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise InputError(path, f"is not a usable SQLite database ({error})") from None
    return connection


def _set_up(connection: sqlite3.Connection, *, is_reader: bool) -> None:
    for setting in (
        "journal_mode = WAL",  # readers never wait for the writer
        "synchronous = FULL",  # a commit is on the disk, not only in the system's cache
        "secure_delete = ON",  # what is deleted is overwritten
        "foreign_keys = ON",
        "trusted_schema = OFF",
        "cache_size = -65536",
        "wal_autocheckpoint = 16384",
        f"query_only = {'ON' if is_reader else 'OFF'}",
    ):
        connection.execute(f"PRAGMA {setting}")
