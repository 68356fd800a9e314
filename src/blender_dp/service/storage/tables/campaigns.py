"""SQL of campaigns and their moves."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from blender_dp.core.errors import ParameterError
from blender_dp.server.databases.statements import Row, first
from blender_dp.service.campaign import (
    MADE_BY_JOBS,
    Campaign,
    Move,
    MoveNotAllowedError,
    State,
    job_after,
)
from blender_dp.service.campaign_description import description, read_description, write_time
from blender_dp.service.jobs.failures import is_release_over
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import ANY_DESCRIPTION, Reason, StoreRefusal
from blender_dp.service.storage.tables import chains, jobs, relayed_rows
from blender_dp.wire.documents.document import digest_of


async def put(
    tx: Transaction, campaign: Campaign, *, actor: str, replaceable: frozenset[str] | None
) -> Campaign:
    """Store a new campaign, or change it while it is a draft; return what is stored.

    The very same content again changes nothing, so that a request may be repeated. A request that
    comes late does not undo what somebody else changed: it names the description that it replaces.
    """
    now = campaign.created_at
    added = replaceable is None and await _add(tx, campaign)
    if not added:
        stored = await get_locked(tx, campaign.id)
        campaign = replace(
            campaign, state=stored.state, created_at=stored.created_at, moved_at=stored.moved_at
        )
        if campaign == stored:
            return stored
        if stored.state is not State.DRAFT:
            raise StoreRefusal(Reason.NOT_A_DRAFT)
        await _require_replaceable(tx, campaign.id, replaceable or frozenset())
        await tx.run(
            "UPDATE campaigns SET description = $2 WHERE id = $1",
            *(str(campaign.id), _text(campaign)),
        )
    await chains.audit(
        tx,
        "campaign" if added else "edit",
        actor=actor,
        campaign=campaign.id,
        now=now,
        digest=digest_of(description(campaign)),
    )
    await _require_new_issuer_key(tx, campaign)  # the log is locked, so others wait or are seen
    return campaign


async def _add(tx: Transaction, campaign: Campaign) -> bool:
    added = await tx.rows(
        "INSERT INTO campaigns (id, description, state, moved_at) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (id) DO NOTHING RETURNING id",
        *(str(campaign.id), _text(campaign), str(campaign.state), write_time(campaign.moved_at)),
    )
    return bool(added)


async def _require_new_issuer_key(tx: Transaction, campaign: Campaign) -> None:
    """Refuse an issuer's key that another campaign names: people would get a token for each."""
    if campaign.issuer is None:
        return
    key = campaign.issuer.public_key.replace("_", "!_")
    found = await first(
        tx,
        "SELECT 1 FROM campaigns WHERE id <> $1 AND description LIKE $2 ESCAPE '!' LIMIT 1",
        *(str(campaign.id), f'%"{key}"%'),
    )
    if found is not None:
        rule = "a key that no other campaign names"
        raise ParameterError("issuer.public_key", rule, campaign.issuer.public_key)


async def _require_replaceable(tx: Transaction, campaign_id: UUID, digests: frozenset[str]) -> None:
    stored = digest_of(await get_description(tx, campaign_id))
    if stored not in digests and digests != ANY_DESCRIPTION:
        raise StoreRefusal(Reason.DRAFT_CHANGED)


async def number_of(tx: Transaction, campaign_id: UUID) -> int:
    """Return the number that identifies a campaign in other tables."""
    found = await first(tx, "SELECT number FROM campaigns WHERE id = $1", str(campaign_id))
    if found is None:
        raise StoreRefusal(Reason.UNKNOWN_CAMPAIGN)
    return int(found[0])


async def require_state(tx: Transaction, campaign_id: str, *states: State) -> int:
    """Return the number of a campaign in one of these states, locked until the transaction ends."""
    found = await first(
        tx, "SELECT number, state FROM campaigns WHERE id = $1 FOR SHARE", campaign_id
    )
    if found is None:
        raise StoreRefusal(Reason.UNKNOWN_CAMPAIGN)
    number, state = found
    if state not in states:
        raise StoreRefusal(Reason.NOT_COLLECTING)
    return int(number)


async def get(tx: Transaction, campaign_id: UUID) -> Campaign:
    """Return a campaign."""
    statement = "SELECT description, state, moved_at FROM campaigns WHERE id = $1"
    return _campaign(await first(tx, statement, str(campaign_id)))


async def get_description(tx: Transaction, campaign_id: UUID) -> Mapping[str, Any]:
    """Return a campaign's description as it was stored."""
    found = await first(tx, "SELECT description FROM campaigns WHERE id = $1", str(campaign_id))
    if found is None:
        raise StoreRefusal(Reason.UNKNOWN_CAMPAIGN)
    document: Mapping[str, Any] = json.loads(found[0])
    return document


async def get_locked(tx: Transaction, campaign_id: UUID) -> Campaign:
    """Return a campaign, locked until the transaction ends against moves and additions."""
    statement = "SELECT description, state, moved_at FROM campaigns WHERE id = $1 FOR UPDATE"
    return _campaign(await first(tx, statement, str(campaign_id)))


async def page(tx: Transaction, *, after: UUID | None, limit: int) -> Sequence[Campaign]:
    """Return campaigns, newest first."""
    before = 2**62 if after is None else await number_of(tx, after)
    found = await tx.rows(
        "SELECT description, state, moved_at FROM campaigns WHERE number < $1"
        " ORDER BY number DESC LIMIT $2",
        *(before, limit),
    )
    return [_campaign(row) for row in found]


async def move(
    tx: Transaction, campaign_id: UUID, move: Move, *, origin: State, actor: str, now: datetime
) -> Campaign:
    """Make a move of an operator or of a rule."""
    campaign = await get_locked(tx, campaign_id)
    if campaign.state is not origin or move in MADE_BY_JOBS:
        raise StoreRefusal(Reason.MOVE_NOT_ALLOWED)
    return await make_move(tx, campaign, move, actor=actor, now=now)


async def make_move(
    tx: Transaction, campaign: Campaign, move: Move, *, actor: str, now: datetime
) -> Campaign:
    """Make a move: delete rows that are not needed any more, log it, and add the next job."""
    try:
        moved = campaign.moved(move, now)
    except MoveNotAllowedError:
        raise StoreRefusal(Reason.MOVE_NOT_ALLOWED) from None
    await tx.run(
        "UPDATE campaigns SET state = $2, moved_at = $3 WHERE id = $1",
        *(str(campaign.id), str(moved.state), write_time(now)),
    )
    number = await number_of(tx, campaign.id)
    await empty_tables(tx, number, move)
    if move is Move.SEAL_CLIENTS and campaign.relay is not None:
        await relayed_rows.await_batch(tx, number)
    if move is Move.PURGE:
        await jobs.give_up(tx, number)
    if kind := job_after(move):
        await jobs.add(tx, number, kind)
    await _log_move(tx, moved, move, actor=actor, now=now)
    return moved


async def empty_tables(tx: Transaction, number: int, move: Move) -> None:
    """Delete rows that are not needed after a move, or after its final failure.

    Some only, because the campaign is locked; the erasure job deletes the rest.
    """
    for table in _EMPTIED.get(move, ()):
        if await delete_some(tx, number, table) is not None:
            return


_EMPTIED: Mapping[Move, Sequence[str]] = {
    Move.PUBLISH_LIST: ("contributions",),
    Move.RELEASE: ("report_ids", "older_report_ids", "relayed_pieces"),
    Move.PURGE: (
        *("contributions", "issued_tokens", "enrolments"),
        *("report_ids", "older_report_ids", "relayed_pieces", "counters"),
    ),
}
"""Tables without rows of a campaign after a move and its erasure; those that refer come first."""
_EMPTY_IN: Mapping[State, Sequence[str]] = {
    State.DRAFT: (),
    State.OPT_IN_OPEN: (),
    State.CLIENTS_SEALED: ("contributions", "report_ids", "older_report_ids"),
    State.RELEASED: ("contributions", "report_ids", "older_report_ids", "relayed_pieces"),
    State.PURGED: _EMPTIED[Move.PURGE],
}
_KEY_OF = {
    "contributions": "enrolment",
    "issued_tokens": "enrolment",
    "enrolments": "digest",
    "report_ids": "id",
    "older_report_ids": "bundle",
    "relayed_pieces": "piece",
}
"""Key columns of tables in which a campaign may have many rows."""
_AT_ONCE = 2_000
"""Most rows deleted in one transaction; more might exceed the server's time limit."""
_LARGE, _LARGE_AT_ONCE = ("contributions", "relayed_pieces"), 25
"""Most rows of at most 4 MiB deleted in one transaction."""


async def find_tables_to_empty(tx: Transaction, campaign_id: UUID) -> tuple[int, Sequence[str]]:
    """Return a campaign's number and the tables that its erasure must empty.

    For a closed opt-in side it is called only after the job published the list or failed for good.
    """
    campaign, number = await get(tx, campaign_id), await number_of(tx, campaign_id)
    tables = _EMPTY_IN.get(campaign.state, ("contributions",))
    if campaign.state is State.CLIENTS_SEALED and campaign.relay is not None:
        is_over = is_release_over(campaign.state, await jobs.of_campaign(tx, campaign_id))
        tables = _EMPTY_IN[State.RELEASED] if is_over else ("contributions",)
    return number, tables


async def delete_some(tx: Transaction, number: int, table: str, start: bytes = b"") -> bytes | None:
    """Delete a bounded number of a campaign's rows, in the order of their keys.

    Args:
        tx: The transaction.
        number: Number of the campaign.
        table: Name of the table.
        start: The first key; there are no rows below it.

    Returns:
        The key to continue from; None if no row is left.
    """
    key = _KEY_OF.get(table)
    if key is None:
        await tx.run(f"DELETE FROM {table} WHERE campaign = $1", number)  # noqa: S608 - our own names
        return None
    these = f"FROM {table} WHERE campaign = $1 AND {key} >= $2"
    rows = min(_AT_ONCE, _LARGE_AT_ONCE) if table in _LARGE else _AT_ONCE
    found = await first(
        tx, f"SELECT {key} {these} ORDER BY {key} LIMIT 1 OFFSET $3", number, start, rows
    )
    if found is None:
        await tx.run(f"DELETE {these}", number, start)
        return None
    await tx.run(f"DELETE {these} AND {key} < $3", number, start, found[0])
    return bytes(found[0])


async def _log_move(
    tx: Transaction, campaign: Campaign, move: Move, *, actor: str, now: datetime
) -> None:
    digest = digest_of(await get_description(tx, campaign.id))
    if move is Move.OPEN_OPT_IN:  # the description cannot change any more
        await chains.publish(tx, "campaign", campaign=campaign.id, digest=digest, now=now)
    await chains.audit(tx, move, actor=actor, campaign=campaign.id, now=now, digest=digest)


async def add_refusals(tx: Transaction, campaign_id: UUID, refused: Mapping[str, int]) -> None:
    """Count requests that were refused, by reason."""
    number = await number_of(tx, campaign_id)
    for reason in sorted(refused):  # a fixed order avoids deadlocks
        await tx.run(
            "INSERT INTO refusals (campaign, reason, requests) VALUES ($1, $2, $3)"
            " ON CONFLICT (campaign, reason)"
            " DO UPDATE SET requests = refusals.requests + excluded.requests",
            *(number, reason, refused[reason]),
        )


def _text(campaign: Campaign) -> str:
    return json.dumps(description(campaign), ensure_ascii=False)


def _campaign(row: Row | None) -> Campaign:
    if row is None:
        raise StoreRefusal(Reason.UNKNOWN_CAMPAIGN)
    text, state, moved_at = row
    return read_description(text, state=state, moved_at=moved_at)
