"""Transactions of SQLite, with the statements for many reports at once."""

import sqlite3
from collections.abc import Mapping

from blender_dp.server.databases.sqlite_statements import SqliteStatements
from blender_dp.server.databases.statements import Answer, Checkpoint
from blender_dp.service.storage.database import Work
from blender_dp.service.storage.sqlite.older_ids import OlderIds
from blender_dp.wire.reports.packed_items import ByteArray, pieces
from blender_dp.wire.reports.service_report import ID_BYTES

# One statement for all ids: Python's lock is released and taken back once, not for every row.
_INSERT_IDS = """
INSERT INTO report_ids (campaign, id, tag)
WITH RECURSIVE place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i + 1 < $3)
SELECT $1, substr($2, 24 * i + 1, 16), substr($2, 24 * i + 17, 8) FROM place
WHERE true ON CONFLICT DO NOTHING
"""
_KNOWN_TAGS = """
WITH RECURSIVE place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i + 1 < $3)
SELECT id, tag FROM place
JOIN report_ids ON campaign = $1 AND id = substr($2, 16 * i + 1, 16)
"""


class SqliteTransaction(SqliteStatements):
    """Statements on the connection of one thread, inside a transaction."""

    writer = "sqlite"

    def __init__(self, connection: sqlite3.Connection, reach: Checkpoint, older: OlderIds) -> None:
        super().__init__(connection)
        self.reach = reach
        self._older = older

    async def insert_report_ids(self, campaign: int, rows: ByteArray) -> int:
        """Insert the new ids and return their number."""
        ids = rows[:, :ID_BYTES].tobytes()
        known = self._older.tags(self._connection, campaign, ids)
        if known:
            rows = rows[[id_ not in known for id_ in pieces(ids, ID_BYTES)]]
        if not len(rows):
            return 0
        before = self._connection.total_changes
        self._execute(_INSERT_IDS, (campaign, rows.tobytes(), len(rows)))
        inserted = self._connection.total_changes - before
        if not known and inserted == len(rows):  # otherwise this is about to be undone
            self._older.count(self._connection, campaign, inserted)
        return inserted

    async def known_tags(self, campaign: int, ids: bytes) -> Mapping[bytes, bytes]:
        """Return the tags of the ids that are stored."""
        recent = self._execute(_KNOWN_TAGS, (campaign, ids, len(ids) // ID_BYTES)).fetchall()
        return self._older.tags(self._connection, campaign, ids) | dict(recent)

    async def attempt(self, work: Work[Answer]) -> Answer:
        """Run a block; if it fails, undo its changes within the transaction."""
        self._connection.execute("SAVEPOINT attempt")
        try:
            answer = await work(self)
        except sqlite3.OperationalError:
            raise  # an error of the disk, not of the work: the whole transaction is lost
        except BaseException:
            self._connection.execute("ROLLBACK TO attempt")
            self._connection.execute("RELEASE attempt")
            raise
        self._connection.execute("RELEASE attempt")
        return answer
