"""SQL of report tokens: which request was signed for which enrolment, one for each."""

from blender_dp.server.databases.statements import first
from blender_dp.service.storage.database import Transaction


async def request_of(tx: Transaction, number: int, enrolment: bytes) -> bytes | None:
    """Return the digest of the request that was signed for an enrolment."""
    found = await first(
        tx,
        "SELECT request FROM issued_tokens WHERE campaign = $1 AND enrolment = $2",
        *(number, enrolment),
    )
    return None if found is None else bytes(found[0])


async def add(tx: Transaction, number: int, enrolment: bytes, request: bytes) -> None:
    """Store that a request will be signed for an enrolment."""
    await tx.run(
        "INSERT INTO issued_tokens (campaign, enrolment, request) VALUES ($1, $2, $3)",
        *(number, enrolment, request),
    )


async def count(tx: Transaction, number: int) -> int:
    """Return how many enrolments of a campaign got a token."""
    found = await first(tx, "SELECT count(*) FROM issued_tokens WHERE campaign = $1", number)
    return 0 if found is None else int(found[0])
