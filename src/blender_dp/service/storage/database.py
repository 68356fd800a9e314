"""Protocols of a database and its transactions, used by the tables."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from blender_dp.server.databases.statements import Answer, Checkpoint, Statements
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports, Outcome
from blender_dp.wire.reports.packed_items import ByteArray


class Transaction(Statements, Protocol):
    """Statements that take effect together or not at all."""

    writer: str
    """Name of the writer whose counters this transaction may change."""
    reach: Checkpoint

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

    async def add_singles(self, campaign_id: UUID, reports: CheckedReports) -> Sequence[Outcome]:
        """Count single reports, each by itself, in a transaction that other requests may share."""
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
