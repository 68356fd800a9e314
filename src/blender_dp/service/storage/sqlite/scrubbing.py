"""Removal of deleted rows from the file and from its log of changes.

SQLite overwrites what is deleted (``secure_delete``), but the log beside the file (``-wal``) keeps
earlier copies of the pages until it is cut off, which waits for everybody who reads from it.
"""

import sqlite3


def rewrite(connection: sqlite3.Connection) -> None:
    """Write the database anew, without its free pages."""
    connection.execute("VACUUM")


def empty_log(connection: sqlite3.Connection) -> bool:
    """Move the log into the file and cut it off; say whether nobody was in the way.

    Does not wait for readers: meanwhile nothing could be written.
    """
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    return not is_busy
