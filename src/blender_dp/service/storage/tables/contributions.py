"""Enrolments, each for one contribution or one report token; contributions and withdrawals."""

from collections.abc import Sequence
from uuid import UUID

from blender_dp.server.databases.statements import first
from blender_dp.service.campaign import TOKENS_ISSUED, State
from blender_dp.service.campaign_description import read_time, write_time
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import Contribution, Reason, StoreRefusal
from blender_dp.service.storage.tables import campaigns, issued_tokens


async def add_enrolments(tx: Transaction, campaign_id: UUID, digests: Sequence[bytes]) -> None:
    """Let the holders of these tokens contribute once, or get one report token."""
    enrolling = (await campaigns.get(tx, campaign_id)).enrolling
    number = await campaigns.require_state(tx, str(campaign_id), *enrolling)
    await tx.run_many(
        "INSERT INTO enrolments (campaign, digest, status) VALUES ($1, $2, 'enrolled')"
        " ON CONFLICT (campaign, digest) DO NOTHING",
        [(number, digest) for digest in sorted(digests)],
    )


async def require_enrolment(tx: Transaction, campaign_id: UUID, enrolment: bytes) -> None:
    """Refuse a token that is no enrolment of this campaign."""
    number = await campaigns.number_of(tx, campaign_id)
    found = await first(
        tx, "SELECT 1 FROM enrolments WHERE campaign = $1 AND digest = $2", *(number, enrolment)
    )
    if found is None:
        raise StoreRefusal(Reason.UNKNOWN_ENROLMENT)


async def contribute(tx: Transaction, campaign_id: UUID, contribution: Contribution) -> bool:
    """Store a contribution; return False if the same one is stored already."""
    number = await campaigns.require_state(tx, str(campaign_id), State.OPT_IN_OPEN)
    if await _is_repeated(tx, number, contribution):
        return False
    await tx.run(
        "UPDATE enrolments SET status = 'contributed', consent_version = $3,"
        " consent_digest = $4, consent_given_at = $5 WHERE campaign = $1 AND digest = $2",
        number,
        contribution.enrolment,
        contribution.consent_version,
        contribution.consent_digest,
        write_time(contribution.consent_given_at),
    )
    await tx.run(
        "INSERT INTO contributions (campaign, enrolment, encrypted, tag) VALUES ($1, $2, $3, $4)",
        *(number, contribution.enrolment, contribution.encrypted, contribution.tag),
    )
    return True


async def _is_repeated(tx: Transaction, number: int, contribution: Contribution) -> bool:
    status = await _status(tx, number, contribution.enrolment)
    if status == "withdrawn":
        raise StoreRefusal(Reason.WITHDRAWN)
    if status == "enrolled":
        return False
    stored = await first(
        tx,
        "SELECT tag FROM contributions WHERE campaign = $1 AND enrolment = $2",
        *(number, contribution.enrolment),
    )
    if stored is None or bytes(stored[0]) != contribution.tag:
        raise StoreRefusal(Reason.ALREADY_CONTRIBUTED)
    return True


async def withdraw(tx: Transaction, campaign_id: UUID, enrolment: bytes) -> None:
    """Delete a contribution and its receipt for good, while the opt-in side is open."""
    number = await campaigns.require_state(tx, str(campaign_id), State.OPT_IN_OPEN)
    await _status(tx, number, enrolment)
    await tx.run(
        "DELETE FROM contributions WHERE campaign = $1 AND enrolment = $2", number, enrolment
    )
    await tx.run(
        "UPDATE enrolments SET status = 'withdrawn', consent_version = NULL,"
        " consent_digest = NULL, consent_given_at = NULL WHERE campaign = $1 AND digest = $2",
        *(number, enrolment),
    )


async def _status(tx: Transaction, number: int, enrolment: bytes) -> str:
    """Return the status of an enrolment, locked until the transaction ends, or refuse it."""
    found = await first(
        tx,
        "SELECT status FROM enrolments WHERE campaign = $1 AND digest = $2 FOR UPDATE",
        *(number, enrolment),
    )
    if found is None:
        raise StoreRefusal(Reason.UNKNOWN_ENROLMENT)
    return str(found[0])


async def issue_token(
    tx: Transaction, campaign_id: UUID, *, enrolment: bytes, request: bytes
) -> None:
    """Store that an enrolment gets its report token; the same request again changes nothing."""
    number = await campaigns.require_state(tx, str(campaign_id), *TOKENS_ISSUED)
    if await _status(tx, number, enrolment) == "contributed":
        raise StoreRefusal(Reason.ALREADY_CONTRIBUTED)
    known = await issued_tokens.request_of(tx, number, enrolment)
    if known is None:
        await issued_tokens.add(tx, number, enrolment, request)
        tx.reach("after-token")
    elif known != request:
        raise StoreRefusal(Reason.TOKEN_ISSUED)


async def piece(
    tx: Transaction, campaign_id: UUID, *, after: bytes, limit: int
) -> Sequence[Contribution]:
    """Return some contributions, ordered by digests of random tokens, which reveal nothing."""
    number = await campaigns.number_of(tx, campaign_id)
    found = await tx.rows(
        "SELECT enrolment, encrypted, tag, consent_version, consent_digest, consent_given_at"
        " FROM contributions JOIN enrolments"
        " ON enrolments.campaign = contributions.campaign AND digest = enrolment"
        " WHERE contributions.campaign = $1 AND enrolment > $2 ORDER BY enrolment LIMIT $3",
        *(number, after, limit),
    )
    return [
        Contribution(
            enrolment=bytes(enrolment),
            encrypted=bytes(encrypted),
            tag=bytes(tag),
            consent_version=version,
            consent_digest=digest,
            consent_given_at=read_time(given_at),
        )
        for enrolment, encrypted, tag, version, digest, given_at in found
    ]
