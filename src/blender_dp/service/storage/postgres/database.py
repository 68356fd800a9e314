"""Database on a PostgreSQL server, for several processes at once."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import UUID

from blender_dp.server.databases import migrations
from blender_dp.server.databases.postgres_connection import COLLISION, UNREACHABLE, close, connect
from blender_dp.server.databases.statements import Answer, Checkpoint, no_checkpoint
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports, Outcome
from blender_dp.service.storage.database import Work
from blender_dp.service.storage.postgres.report_writers import ReportWriters
from blender_dp.service.storage.postgres.scrubbing import WithdrawalScrubber, scrub
from blender_dp.service.storage.postgres.transaction import PostgresTransaction
from blender_dp.service.storage.store import Reason, StoreRefusal

MIGRATIONS = migrations.of_package("blender_dp.service.storage.postgres")
_MIGRATING = 0x626C656E646572
"""Number of the lock that keeps two processes from migrating at once."""
_TRIES = 5


class PostgresDatabase:
    """A :class:`~blender_dp.service.storage.database.Database` on a server."""

    def __init__(self, pool: Any, reach: Checkpoint) -> None:  # noqa: ANN401 - asyncpg has no types
        self._pool = pool
        self._reach = reach
        self._writers = ReportWriters(pool, reach)
        self._withdrawals = WithdrawalScrubber(pool)

    @classmethod
    async def open(cls, address: str, *, reach: Checkpoint = no_checkpoint) -> "PostgresDatabase":
        """Connect and bring the schema up to date."""
        pool = await connect(address)
        try:
            await migrate(pool)
        except BaseException:
            await close(pool)
            raise
        return cls(pool, reach)

    async def read(self, work: Work[Answer]) -> Answer:
        """Run queries on one consistent view of the database."""
        async with self._transaction(isolation="repeatable_read", readonly=True) as tx:
            return await work(tx)

    async def write(self, work: Work[Answer]) -> Answer:
        """Do work in a transaction; it is on disk when this returns."""
        for _ in range(_TRIES):
            self._reach("before-begin")
            try:
                async with self._transaction() as tx:
                    answer = await work(tx)
                    self._reach("before-commit")
            except COLLISION:
                continue
            self._reach("after-commit")
            return answer
        raise StoreRefusal(Reason.OVERLOADED)

    @asynccontextmanager
    async def _transaction(self, **how: object) -> AsyncIterator[PostgresTransaction]:
        try:
            async with self._pool.acquire() as connection, connection.transaction(**how):
                yield PostgresTransaction(connection, self._reach)
        except UNREACHABLE:
            raise StoreRefusal(Reason.OVERLOADED) from None

    async def add_reports(self, campaign_id: UUID, reports: CheckedReports) -> Added:
        """Count a request's reports in a transaction that it may share with other requests."""
        return cast("Added", await self._writers.write(campaign_id, reports))

    async def add_singles(self, campaign_id: UUID, reports: CheckedReports) -> Sequence[Outcome]:
        """Count single reports, each by itself, in a transaction that other requests may share."""
        return cast("Sequence[Outcome]", await self._writers.write(campaign_id, reports))

    async def scrub(self) -> None:
        """Rewrite the tables without deleted rows; the old files are removed."""
        await scrub(self._pool)

    def scrub_soon(self) -> None:
        """Rewrite the tables of withdrawn contributions in the background."""
        self._withdrawals.begin()

    async def is_in_place(self) -> bool:
        """Return True: the address names the server, which cannot be replaced as a file can."""
        return True

    async def close(self) -> None:
        """Finish all accepted requests and close every connection."""
        await self._writers.close()
        await self._withdrawals.close()
        await close(self._pool)


async def migrate(pool: Any, target: int | None = None) -> None:  # noqa: ANN401 - as above
    """Bring the schema to a version, by default the newest."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _MIGRATING)
        tx = PostgresTransaction(connection, no_checkpoint)
        await migrations.migrate(tx, MIGRATIONS, target)
