"""Rows of relayed batches, by the number of their campaign."""

import json

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.server.databases.statements import first
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import BatchState, RelayedBatch


async def of_campaign(tx: Transaction, number: int) -> RelayedBatch | None:
    """Return the batch of the campaign with this number."""
    found = await first(
        tx, "SELECT state, statement, counted FROM relayed_batches WHERE campaign = $1", number
    )
    if found is None:
        return None
    pieces = await tx.rows(
        "SELECT piece FROM relayed_pieces WHERE campaign = $1 ORDER BY piece", number
    )
    state, statement, counted = found
    return RelayedBatch(
        state=BatchState(state),
        signed=None if statement is None else json.loads(statement),
        pieces=[int.from_bytes(piece, "big") for (piece,) in pieces],
        counted=counted,
    )


async def require(tx: Transaction, number: int) -> RelayedBatch:
    """Return the batch of a campaign that has a relay and is sealed."""
    batch = await of_campaign(tx, number)
    if batch is None:
        raise BrokenInvariantError("a campaign with a relay waits for its batch once it is sealed")
    return batch


async def await_batch(tx: Transaction, number: int) -> None:
    """Begin to wait for the batch of a campaign that was sealed for clients."""
    await tx.run(
        "INSERT INTO relayed_batches (campaign, state) VALUES ($1, $2)",
        *(number, str(BatchState.WAITING)),
    )


async def set_counted(tx: Transaction, number: int, counted: int) -> None:
    """Store how many reports of a batch the release counts."""
    await tx.run("UPDATE relayed_batches SET counted = $2 WHERE campaign = $1", number, counted)
