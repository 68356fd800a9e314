"""Protocols of a database and its transactions, used by the tables.

Statements are written once, in SQL that both SQLite and PostgreSQL accept, with ``$1``, ``$2`` for
values. They run in coroutines: PostgreSQL waits in them, SQLite never does.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID

from blender_dp.service.http.reports.checked_reports import Added, CheckedReports
from blender_dp.wire.reports.packed_items import ByteArray

Row = Sequence[Any]
Answer = TypeVar("Answer")
Checkpoint = Callable[[str], None]
"""Called with the name of a point in a write; a kill test ends the process there."""


def no_checkpoint(_point: str) -> None:
    """Do nothing."""


class Transaction(Protocol):
    """Statements that take effect together or not at all."""

    writer: str
    """Name of the writer whose counters this transaction may change."""
    reach: Checkpoint

    async def rows(self, statement: str, *values: object) -> Sequence[Row]:
        """Return the rows that a statement gives."""
        ...

    async def run(self, statement: str, *values: object) -> None:
        """Run a statement for its effect."""
        ...

    async def run_many(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for every row of values."""
        ...

    async def run_script(self, script: str) -> None:
        """Run several statements, those of a migration."""
        ...

    async def insert_report_ids(self, campaign: int, rows: ByteArray) -> int:
        """Insert the new ids and return their number.

        Args:
            campaign: Its number.
            rows: One row per report, sorted: 16 bytes of its id, then 8 of its tag.
        """
        ...

    async def known_tags(self, campaign: int, ids: bytes) -> Mapping[bytes, bytes]:
        """Return the tags of the ids (16 bytes each) that are stored."""
        ...

    async def attempt(self, work: "Work[Answer]") -> Answer:
        """Run a block; if it fails, undo its changes within the transaction."""
        ...


Work = Callable[[Transaction], Awaitable[Answer]]


class Database(Protocol):
    """A database of campaigns, up to date with the software's schema."""

    async def read(self, work: Work[Answer]) -> Answer:
        """Run queries on one consistent view of the database."""
        ...

    async def write(self, work: Work[Answer]) -> Answer:
        """Do work in a transaction; it is on disk when this returns."""
        ...

    async def add_reports(self, campaign_id: UUID, reports: CheckedReports) -> Added:
        """Count a request's reports in a transaction that it may share with other requests."""
        ...

    async def scrub(self) -> None:
        """Overwrite the remains of deleted rows in storage; refuse while there are readers."""
        ...

    def scrub_soon(self) -> None:
        """Overwrite withdrawn contributions in the background; retried until done."""
        ...

    async def is_in_place(self) -> bool:
        """Tell whether the database is still the one at the opened address."""
        ...

    async def close(self) -> None:
        """Finish all accepted requests and close every connection."""
        ...


async def first(tx: Transaction, statement: str, *values: object) -> Row | None:
    """Return the first row, or None if there is none."""
    found = await tx.rows(statement, *values)
    return found[0] if found else None
