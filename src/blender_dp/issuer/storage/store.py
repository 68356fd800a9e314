"""Store of campaigns and issued tokens; every change of state is one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from blender_dp.server.collector import bind_collector
from blender_dp.server.databases.database import Database, Schema
from blender_dp.server.databases.statements import Row, Statements, first

SCHEMA = Schema(
    package="blender_dp.issuer.storage",
    scrubbed=("issued_tokens", "campaigns"),
    lock=0x697373756572,
)
_COLUMNS = "number, id, issued, is_ended, is_scrubbed"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuingCampaign:
    """A campaign as the issuer stores it."""

    number: int
    campaign: UUID
    issued: int
    """People who got a token."""
    is_ended: bool
    is_scrubbed: bool


class Refused(Enum):
    """Why a request is not signed."""

    ANOTHER_REQUEST = "another request was signed for this person"
    ENDED = "the campaign has ended"


class IssuerStore:
    """Campaigns and issued tokens of one issuer."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def bind_collector(self, public_key: str) -> str:
        """Return the collector's key: the one that is stored, or this one from now on."""
        return await bind_collector(self.database, public_key)

    async def campaign(self, campaign: UUID) -> IssuingCampaign | None:
        """Return a campaign; None if this issuer never had it."""

        async def select(tx: Statements) -> IssuingCampaign | None:
            statement = f"SELECT {_COLUMNS} FROM campaigns WHERE id = $1"  # noqa: S608 - constant
            found = await first(tx, statement, str(campaign))
            return None if found is None else _read(found)

        return await self.database.read(select)

    async def unfinished(self) -> Sequence[IssuingCampaign]:
        """Return the campaigns of which something is still here."""

        async def select(tx: Statements) -> Sequence[IssuingCampaign]:
            statement = f"SELECT {_COLUMNS} FROM campaigns WHERE is_scrubbed = 0 ORDER BY number"  # noqa: S608 - constant
            return [_read(row) for row in await tx.rows(statement)]

        return await self.database.read(select)

    async def add_campaign(self, campaign: UUID) -> None:
        """Add a campaign unless it is there."""

        async def add(tx: Statements) -> None:
            await tx.run(
                "INSERT INTO campaigns (id, issued, is_ended, is_scrubbed)"
                " VALUES ($1, 0, 0, 0) ON CONFLICT DO NOTHING",
                str(campaign),
            )

        await self.database.write(add)

    async def issue(self, number: int, person: bytes, request: bytes) -> int | Refused:
        """Store that a request is signed for a person, unless another one was.

        Returns how many people of the campaign got a token, this one included.

        Args:
            number: The campaign.
            person: Keyed hash of the person.
            request: SHA-256 of the blinded message.
        """

        async def issue(tx: Statements) -> int | Refused:
            statement = "SELECT issued, is_ended FROM campaigns WHERE number = $1 FOR UPDATE"
            campaign = await first(tx, statement, number)
            if campaign is None or campaign[1]:
                return Refused.ENDED
            kept = await first(
                tx,
                "SELECT request FROM issued_tokens WHERE campaign = $1 AND person = $2",
                *(number, person),
            )
            if kept is not None:
                return int(campaign[0]) if bytes(kept[0]) == request else Refused.ANOTHER_REQUEST
            await tx.run(
                "INSERT INTO issued_tokens (campaign, person, request) VALUES ($1, $2, $3)",
                *(number, person, request),
            )
            await tx.run("UPDATE campaigns SET issued = issued + 1 WHERE number = $1", number)
            return int(campaign[0]) + 1

        return await self.database.write(issue)

    async def end(self, number: int) -> None:
        """Delete everybody who got a token of a campaign; nobody gets one any more."""

        async def end(tx: Statements) -> None:
            await tx.run("UPDATE campaigns SET is_ended = 1 WHERE number = $1", number)
            await tx.run("DELETE FROM issued_tokens WHERE campaign = $1", number)

        await self.database.write(end)

    async def scrub(self, number: int) -> bool:
        """Overwrite the remains of deleted rows; return whether that is done."""
        if not await self.database.scrub():
            return False

        async def note(tx: Statements) -> None:
            await tx.run("UPDATE campaigns SET is_scrubbed = 1 WHERE number = $1", number)

        await self.database.write(note)
        return True

    async def require_writable(self) -> None:
        """Fail if nothing can be written."""

        async def touch(tx: Statements) -> None:
            await tx.run("UPDATE campaigns SET issued = issued WHERE number = 0")

        await self.database.write(touch)


def _read(row: Row) -> IssuingCampaign:
    number, campaign, issued, is_ended, is_scrubbed = row
    return IssuingCampaign(
        number=number,
        campaign=UUID(campaign),
        issued=issued,
        is_ended=bool(is_ended),
        is_scrubbed=bool(is_scrubbed),
    )
