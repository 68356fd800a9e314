"""Stores of a service that break a promise, so that a test must notice them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from blender_dp.server.databases.statements import Statements, first
from blender_dp.service.http.reports.checked_reports import Added, CheckedReports, Outcome
from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.store import Reason, StoreRefusal

LATE = 0.2
"""Seconds until a token that was given is stored."""


class FlawedStore:
    """A store that is right but for what a subclass changes."""

    def __init__(self, store: DatabaseStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def _stored(self, enrolment: bytes) -> bytes | None:
        work = partial(request_of, column="enrolment", value=enrolment)
        return await self._store.database.read(work)


class EarlyStore(FlawedStore):
    """A store that answers first and writes afterwards."""

    def __init__(self, store: DatabaseStore) -> None:
        super().__init__(store)
        self._writing: set[asyncio.Task[Any]] = set()
        self._asked: dict[bytes, bytes] = {}

    async def add_reports(self, campaign_id: UUID, reports: CheckedReports) -> Added:
        self._writing.add(asyncio.create_task(self._store.add_reports(campaign_id, reports)))
        return Added(accepted=len(reports), repeated=0)

    async def add_singles(self, campaign_id: UUID, reports: CheckedReports) -> Sequence[Outcome]:
        self._writing.add(asyncio.create_task(self._store.add_singles(campaign_id, reports)))
        return [Added(accepted=1, repeated=0)] * len(reports)

    async def issue_token(self, campaign_id: UUID, enrolment: bytes, request: bytes) -> None:
        """Refuse what is stored or was answered in this life, so only a death shows the flaw."""
        stored = await self._stored(enrolment)
        if (stored or self._asked.setdefault(enrolment, request)) != request:
            raise StoreRefusal(Reason.TOKEN_ISSUED)
        self._writing.add(asyncio.create_task(self._issue_late(campaign_id, enrolment, request)))

    async def _issue_late(self, *issuing: Any) -> None:
        await asyncio.sleep(LATE)
        await self._store.issue_token(*issuing)


class OnceStore(FlawedStore):
    """A store that refuses the very request for which it gave a token before."""

    async def issue_token(self, campaign_id: UUID, enrolment: bytes, request: bytes) -> None:
        if await self._stored(enrolment):
            raise StoreRefusal(Reason.TOKEN_ISSUED)
        await self._store.issue_token(campaign_id, enrolment, request)


async def request_of(tx: Statements, *, column: str, value: bytes) -> bytes | None:
    """Return the request that is stored for somebody."""
    found = await first(tx, f"SELECT request FROM issued_tokens WHERE {column} = $1", value)  # noqa: S608 - a name
    return None if found is None else bytes(found[0])


FLAWS: Mapping[str, Callable[[DatabaseStore], Any]] = {"early": EarlyStore, "once": OnceStore}
