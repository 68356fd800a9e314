"""Tokens of a service: making, listing and revoking them in its database."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from blender_dp.cli.event_loop import now, run_loop
from blender_dp.cli.service_options import ServiceOptions
from blender_dp.cli.token_file import write_token
from blender_dp.service.http.access import Role, new_token, token_digest
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from blender_dp.service.storage.store import Token
from blender_dp.wire.documents.times import written_time

_FIRST_TOKEN = "operator"  # noqa: S105 - a name
Answer = TypeVar("Answer")


def create_token(storage: ServiceOptions, name: str, role: str) -> str:
    """Create a token and return it."""

    async def make(store: DatabaseStore) -> str:
        return await _store_token(store, name, Role(role), new_token(os.urandom))

    return run_loop(_with_store(storage, make))


def all_tokens(storage: ServiceOptions) -> list[dict[str, str | None]]:
    """Return every token, without its secret."""

    async def list_all(store: DatabaseStore) -> list[dict[str, str | None]]:
        return [_describe(token) for token in await store.tokens()]

    return run_loop(_with_store(storage, list_all))


def revoke_token(storage: ServiceOptions, name: str) -> None:
    """Revoke a token."""

    async def revoke(store: DatabaseStore) -> None:
        await store.revoke_token(name, now=now())
        await store.note("token-revoked", actor=name, campaign_id=None, now=now())

    run_loop(_with_store(storage, revoke))


async def _with_store(
    storage: ServiceOptions, work: Callable[[DatabaseStore], Awaitable[Answer]]
) -> Answer:
    storage.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = await open_store(storage.url)
    try:
        return await work(store)
    finally:
        await store.close()


def first_token(storage: ServiceOptions, path: Path | None = None) -> str | None:
    """Create the operator's token if there is no token yet, and return it.

    Args:
        storage: Places of the service's data and keys.
        path: A file to which it is written before it is valid, so that it cannot be lost.
    """

    async def make(store: DatabaseStore) -> str | None:
        if await store.tokens():
            return None
        token = new_token(os.urandom)
        if path is not None:
            write_token(path, token)
        return await _store_token(store, _FIRST_TOKEN, Role.OPERATOR, token)

    return run_loop(_with_store(storage, make))


async def _store_token(store: DatabaseStore, name: str, role: Role, token: str) -> str:
    await store.add_token(Token(name=name, role=role, digest=token_digest(token), created_at=now()))
    await store.note("token-created", actor=name, campaign_id=None, now=now())
    return token


def _describe(token: Token) -> dict[str, str | None]:
    return {
        "name": token.name,
        "role": token.role,
        "created_at": written_time(token.created_at),
        "revoked_at": None if token.revoked_at is None else written_time(token.revoked_at),
    }
