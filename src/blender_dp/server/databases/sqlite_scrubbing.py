"""Removal of deleted rows from the file and from its log of changes.

SQLite overwrites what is deleted (``secure_delete``), but the log beside the file (``-wal``) keeps
earlier copies of the pages until it is truncated, which waits for all of its readers.
"""

import sqlite3


def rewrite(connection: sqlite3.Connection) -> None:
    """Rewrite the database without its free pages."""
    connection.execute("VACUUM")


def empty_log(connection: sqlite3.Connection) -> bool:
    """Move the log into the file and truncate it; return False if a reader prevented it.

    It does not wait for readers: nothing could be written during the wait.
    """
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    return not is_busy
