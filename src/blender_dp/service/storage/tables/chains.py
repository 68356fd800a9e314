"""Public log and audit log: hash chains to which entries are only appended."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import Chain
from blender_dp.wire.service.hash_chain import entry


async def publish(
    tx: Transaction, kind: str, *, campaign: UUID, digest: str, now: datetime
) -> Mapping[str, Any]:
    """Append to the public log and return the entry."""
    previous = await _last(tx, Chain.PUBLIC)
    made = entry(previous, time=now, kind=kind, campaign=campaign, digest=digest)
    await _append(tx, Chain.PUBLIC, made)
    return made


async def audit(
    tx: Transaction,
    kind: str,
    *,
    actor: str,
    campaign: UUID | None,
    now: datetime,
    digest: str | None = None,
) -> None:
    """Append an action and its actor to the audit log."""
    previous = await _last(tx, Chain.AUDIT)
    made = entry(previous, time=now, kind=kind, campaign=campaign, digest=digest, actor=actor)
    await _append(tx, Chain.AUDIT, made)


async def _last(tx: Transaction, chain: Chain) -> Mapping[str, Any] | None:
    """Return the last entry and lock the chain, so that no two entries follow the same one."""
    ((text,),) = await tx.rows(
        "SELECT last_entry FROM chain_heads WHERE chain = $1 FOR UPDATE", str(chain)
    )
    return None if text is None else cast("Mapping[str, Any]", json.loads(text))


async def _append(tx: Transaction, chain: Chain, made: Mapping[str, Any]) -> None:
    text = json.dumps(made, ensure_ascii=False)
    await tx.run("UPDATE chain_heads SET last_entry = $2 WHERE chain = $1", str(chain), text)
    await tx.run(
        "INSERT INTO log_entries (chain, position, entry) VALUES ($1, $2, $3)",
        *(str(chain), made["index"], text),
    )


async def entries(
    tx: Transaction, chain: Chain, *, start: int, limit: int
) -> Sequence[Mapping[str, Any]]:
    """Return entries from an index on."""
    found = await tx.rows(
        "SELECT entry FROM log_entries WHERE chain = $1 AND position >= $2"
        " ORDER BY position LIMIT $3",
        *(str(chain), start, limit),
    )
    return [json.loads(text) for (text,) in found]
