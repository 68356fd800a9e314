"""Protocols of a database and its transactions, as the tables use them.

The statements are written once, in SQL that SQLite and PostgreSQL both read, with ``$1``, ``$2``
for values. They are coroutines: PostgreSQL waits in them, SQLite never does.
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
    """Whose counters this transaction may change."""
    reach: Checkpoint

    async def rows(self, statement: str, *values: object) -> Sequence[Row]:
        """Return what a statement gives."""
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
        """Insert the ids that are not there yet and return how many those are.

        Args:
            campaign: Its number.
            rows: A row a report, the 16 bytes of its id, then the 8 of its tag; in order.
        """
        ...

    async def known_tags(self, campaign: int, ids: bytes) -> Mapping[bytes, bytes]:
        """Return the tags of those ids, of 16 bytes each, that are there."""
        ...

    async def attempt(self, work: "Work[Answer]") -> Answer:
        """Do work that, should it fail, leaves no trace in the transaction."""
        ...


Work = Callable[[Transaction], Awaitable[Answer]]


class Database(Protocol):
    """A database of campaigns, up to date with the software's schema."""

    async def read(self, work: Work[Answer]) -> Answer:
        """Answer from one view of the database."""
        ...

    async def write(self, work: Work[Answer]) -> Answer:
        """Do work in a transaction; it is on disk when this returns."""
        ...

    async def add_reports(self, campaign_id: UUID, reports: CheckedReports) -> Added:
        """Count a request's reports in a transaction that it may share with other requests."""
        ...

    async def scrub(self) -> None:
        """Overwrite what storage still holds of deleted rows; refuse while there are readers."""
        ...

    def scrub_soon(self) -> None:
        """Overwrite what was withdrawn, in the background; tried until it is done."""
        ...

    async def is_in_place(self) -> bool:
        """Tell whether what is written now will be found where the database was opened."""
        ...

    async def close(self) -> None:
        """Finish what was accepted and close every connection."""
        ...


async def first(tx: Transaction, statement: str, *values: object) -> Row | None:
    """Return the first row, or None if there is none."""
    found = await tx.rows(statement, *values)
    return found[0] if found else None
