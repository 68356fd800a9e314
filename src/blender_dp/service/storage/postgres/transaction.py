"""Transactions of PostgreSQL, with the statements for many reports at once."""

from collections.abc import Mapping
from typing import Any

from blender_dp.server.databases.postgres_statements import PostgresStatements
from blender_dp.server.databases.statements import Answer, Checkpoint
from blender_dp.service.http.reports.checked_reports import TAG_BYTES
from blender_dp.service.storage.database import Work
from blender_dp.wire.reports.packed_items import ByteArray, pieces
from blender_dp.wire.reports.service_report import ID_BYTES


class PostgresTransaction(PostgresStatements):
    """Statements on a connection inside a transaction."""

    def __init__(
        self,
        connection: Any,  # noqa: ANN401 - asyncpg publishes no types
        reach: Checkpoint,
        writer: str = "",
    ) -> None:
        super().__init__(connection)
        self.reach = reach
        self.writer = writer

    async def insert_report_ids(self, campaign: int, rows: ByteArray) -> int:
        """Insert the new ids and return their number."""
        ids, tags = rows[:, :ID_BYTES].tobytes(), rows[:, ID_BYTES:].tobytes()
        done = await self._connection.execute(
            "INSERT INTO report_ids (campaign, id, tag)"
            " SELECT $1, * FROM unnest($2::bytea[], $3::bytea[]) ON CONFLICT DO NOTHING",
            *(campaign, pieces(ids, ID_BYTES), pieces(tags, TAG_BYTES)),
        )
        return int(done.rpartition(" ")[2])

    async def known_tags(self, campaign: int, ids: bytes) -> Mapping[bytes, bytes]:
        """Return the tags of the ids that are stored."""
        found = await self.rows(
            "SELECT id, tag FROM report_ids WHERE campaign = $1 AND id = ANY($2::bytea[])",
            *(campaign, pieces(ids, ID_BYTES)),
        )
        return {id_: tag for id_, tag in found}

    async def attempt(self, work: Work[Answer]) -> Answer:
        """Run a block; if it fails, undo its changes within the transaction."""
        async with self._connection.transaction():
            return await work(self)
