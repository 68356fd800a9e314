"""Store of campaigns and encrypted reports; every change of state is one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from uuid import UUID

from blender_dp.relay.storage.bundles import bundled_reports
from blender_dp.server.collector import bind_collector
from blender_dp.server.databases.database import Database, Schema
from blender_dp.server.databases.statements import Row, Statements, first

SCHEMA = Schema(
    package="blender_dp.relay.storage", scrubbed=("bundles", "campaigns"), lock=0x72656C6179
)
_COLUMNS = (
    "number, id, head_list, encryption_key, report_length, least_batch, state, count, statement, "
    "is_told, is_scrubbed"
)


class BatchState(StrEnum):
    """State of a campaign's reports at the relay."""

    WAITING = "waiting"
    """Reports are taken while the collector is open for clients, and kept."""
    FORWARDING = "forwarding"
    """The order is fixed; no report is added."""
    FORWARDED = "forwarded"
    """The collector has all of them; they are deleted here."""
    DESTROYED = "destroyed"
    """They were deleted and are forwarded to no one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A campaign's reports as a whole."""

    number: int
    campaign: UUID
    head_list: str
    encryption_key: str
    """The collector's key that every device was given, as the signed list writes it."""
    report_length: int
    least_batch: int
    state: BatchState
    count: int
    statement: str | None
    is_told: bool
    """Whether the collector has the statement."""
    is_scrubbed: bool
    """Whether the remains of deleted reports are overwritten."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        is_final = self.state in (BatchState.FORWARDED, BatchState.DESTROYED)
        return is_final and self.is_told and self.is_scrubbed


class RelayStore:
    """Campaigns and reports of one relay."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def bind_collector(self, public_key: str) -> str:
        """Return the collector's key: the one that is stored, or this one from now on."""
        return await bind_collector(self.database, public_key)

    async def add_campaign(
        self,
        campaign: UUID,
        *,
        head_list: str,
        encryption_key: str,
        report_length: int,
        least_batch: int,
    ) -> Batch:
        """Add a campaign unless it is there; return it."""

        async def add(tx: Statements) -> Batch | None:
            await tx.run(
                "INSERT INTO campaigns (id, head_list, encryption_key, report_length, least_batch,"
                " state, count, is_told, is_scrubbed)"
                " VALUES ($1, $2, $3, $4, $5, 'waiting', 0, 0, 0) ON CONFLICT DO NOTHING",
                *(str(campaign), head_list, encryption_key, report_length, least_batch),
            )
            return await _batch(tx, campaign)

        added = await self.database.write(add)
        assert added is not None  # it was added just now
        return added

    async def batch(self, campaign: UUID) -> Batch | None:
        """Return a campaign; None if this relay does not know it."""
        return await self.database.read(partial(_batch, campaign=campaign))

    async def batches(self) -> Sequence[Batch]:
        """Return all campaigns."""

        async def select(tx: Statements) -> Sequence[Batch]:
            rows = await tx.rows(f"SELECT {_COLUMNS} FROM campaigns ORDER BY number")  # noqa: S608 - constant
            return [_read(row) for row in rows]

        return await self.database.read(select)

    async def begin_forwarding(self, batch: Batch, order_key: bytes) -> bool:
        """Fix that a batch is forwarded, and in which order; no report is added afterwards.

        Returns False, and changes nothing, if it is too small.
        """

        async def begin(tx: Statements) -> bool:
            state, count = await _locked(tx, batch.number)
            if state is BatchState.WAITING and count >= batch.least_batch:
                await tx.run(
                    "UPDATE campaigns SET state = 'forwarding', order_key = $2 WHERE number = $1",
                    *(batch.number, order_key),
                )
                return True
            return state is BatchState.FORWARDING

        return await self.database.write(begin)

    async def order_key(self, batch: Batch) -> bytes:
        """Return what decides the order of a batch that is being forwarded."""

        async def select(tx: Statements) -> bytes:
            statement = "SELECT order_key FROM campaigns WHERE number = $1"
            found = await first(tx, statement, batch.number)
            assert found is not None  # campaigns are never deleted
            return bytes(found[0])

        return await self.database.read(select)

    async def reports(self, batch: Batch) -> Sequence[bytes]:
        """Return all encrypted reports of a campaign, each once, in no order.

        A process that lost its connection while it wrote may have written a report twice.
        """
        return list(set(await self.database.read(partial(all_reports, number=batch.number))))

    async def put_statement(self, batch: Batch, statement: str, count: int) -> None:
        """Store what is signed about a batch of so many reports, before its first piece is sent."""

        async def put(tx: Statements) -> None:
            await tx.run(
                "UPDATE campaigns SET statement = $2, count = $3 WHERE number = $1",
                *(batch.number, statement, count),
            )

        await self.database.write(put)

    async def finish(self, batch: Batch, state: BatchState, statement: str) -> bool:
        """Delete all reports of a campaign for good, with the signed statement about it.

        Returns False, and changes nothing, if another count was stated: a report came meanwhile.
        """

        async def end(tx: Statements) -> bool:
            found, count = await _locked(tx, batch.number)
            if found is BatchState.WAITING and count != batch.count:
                return False
            if found in (BatchState.FORWARDED, BatchState.DESTROYED):
                return True
            await tx.run("DELETE FROM bundles WHERE campaign = $1", batch.number)
            is_told = state is BatchState.FORWARDED
            await tx.run(
                "UPDATE campaigns SET state = $2, statement = $3, is_told = $4, count = $5,"
                " order_key = NULL WHERE number = $1",
                *(batch.number, state.value, statement, int(is_told), batch.count),
            )
            return True

        return await self.database.write(end)

    async def note_told(self, batch: Batch) -> None:
        """Store that the collector has the statement."""

        async def note(tx: Statements) -> None:
            await tx.run("UPDATE campaigns SET is_told = 1 WHERE number = $1", batch.number)

        await self.database.write(note)

    async def scrub(self, batch: Batch) -> bool:
        """Overwrite the remains of deleted reports; return whether that is done."""
        if not await self.database.scrub():
            return False

        async def note(tx: Statements) -> None:
            await tx.run("UPDATE campaigns SET is_scrubbed = 1 WHERE number = $1", batch.number)

        await self.database.write(note)
        return True

    async def require_writable(self) -> None:
        """Fail if nothing can be written."""

        async def touch(tx: Statements) -> None:
            await tx.run("UPDATE campaigns SET count = count WHERE number = 0")

        await self.database.write(touch)


async def all_reports(tx: Statements, number: int) -> Sequence[bytes]:
    """Return all encrypted reports of a campaign as they are stored, in no order."""
    found = await first(tx, "SELECT report_length FROM campaigns WHERE number = $1", number)
    assert found is not None  # campaigns are never deleted
    return await bundled_reports(tx, number, int(found[0]))


async def lock_waiting(tx: Statements, number: int) -> bool:
    """Tell whether a campaign's reports still wait; nobody changes that in this transaction."""
    state, _ = await _locked(tx, number)
    return state is BatchState.WAITING


async def count_more(tx: Statements, number: int, count: int) -> None:
    """Count reports that were stored in this transaction."""
    await tx.run("UPDATE campaigns SET count = count + $2 WHERE number = $1", number, count)


async def _locked(tx: Statements, number: int) -> tuple[BatchState, int]:
    statement = "SELECT state, count FROM campaigns WHERE number = $1 FOR UPDATE"
    found = await first(tx, statement, number)
    assert found is not None  # campaigns are never deleted
    return BatchState(found[0]), int(found[1])


async def _batch(tx: Statements, campaign: UUID) -> Batch | None:
    statement = f"SELECT {_COLUMNS} FROM campaigns WHERE id = $1"  # noqa: S608 - constant
    found = await first(tx, statement, str(campaign))
    return None if found is None else _read(found)


def _read(row: Row) -> Batch:
    number, campaign, head_list, key, length, least, state, count, statement, is_told, scrubbed = (
        row
    )
    return Batch(
        number=number,
        campaign=UUID(campaign),
        head_list=head_list,
        encryption_key=key,
        report_length=length,
        least_batch=least,
        state=BatchState(state),
        count=count,
        statement=statement,
        is_told=bool(is_told),
        is_scrubbed=bool(scrubbed),
    )
