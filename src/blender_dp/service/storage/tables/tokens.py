"""SQL of API tokens, stored as digests, and of the fingerprint of the keys."""

from collections.abc import Sequence
from datetime import datetime

from blender_dp.core.errors import ParameterError
from blender_dp.server.databases.statements import Row, first
from blender_dp.service.campaign_description import read_time, write_time
from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import Token


async def add(tx: Transaction, token: Token) -> None:
    """Store a token's digest; its name must be new."""
    added = await tx.rows(
        "INSERT INTO tokens (name, role, digest, created_at) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT DO NOTHING RETURNING name",
        *(token.name, token.role, token.digest, write_time(token.created_at)),
    )
    if not added:
        raise ParameterError("name", "one that no token has, revoked or not", token.name)


async def get_valid(tx: Transaction, digest: bytes) -> Token | None:
    """Return the token with this digest unless it was revoked."""
    found = await first(
        tx,
        "SELECT name, role, digest, created_at, revoked_at FROM tokens"
        " WHERE digest = $1 AND revoked_at IS NULL",
        digest,
    )
    return None if found is None else _token(found)


async def get_all(tx: Transaction) -> Sequence[Token]:
    """Return all tokens, revoked ones too, by name."""
    found = await tx.rows(
        "SELECT name, role, digest, created_at, revoked_at FROM tokens ORDER BY name"
    )
    return [_token(row) for row in found]


async def revoke(tx: Transaction, name: str, *, now: datetime) -> None:
    """Revoke a token; revoking it again changes nothing."""
    found = await tx.rows(
        "UPDATE tokens SET revoked_at = coalesce(revoked_at, $2) WHERE name = $1 RETURNING name",
        *(name, write_time(now)),
    )
    if not found:
        raise ParameterError("name", "the name of a token", name)


async def key_fingerprint(tx: Transaction) -> str | None:
    """Return the fingerprint of the keys, or None if the database was never used with any."""
    found = await first(tx, "SELECT fingerprint FROM key_directory")
    return None if found is None else str(found[0])


async def bind_keys(tx: Transaction, given: str) -> str:
    """Bind the database to its keys, once; return the bound fingerprint."""
    await tx.run(
        "INSERT INTO key_directory (number, fingerprint) VALUES (1, $1)"
        " ON CONFLICT (number) DO NOTHING",
        given,
    )
    return await key_fingerprint(tx) or given


def _token(row: Row) -> Token:
    name, role, digest, created_at, revoked_at = row
    return Token(
        name=name,
        role=role,
        digest=bytes(digest),
        created_at=read_time(created_at),
        revoked_at=None if revoked_at is None else read_time(revoked_at),
    )
