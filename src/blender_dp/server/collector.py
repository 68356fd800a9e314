"""Collector as another server sees it: states of campaigns, signed lists, the public log."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import httpx

from blender_dp.core.errors import BlenderError, InputError
from blender_dp.server.databases.database import Database
from blender_dp.server.databases.statements import Statements, first
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.service.hash_chain import PublicKind

OPEN = "clients-open"
PUBLISHED = "list-published"
NOT_YET_OPEN = ("draft", "opt-in-open", "opt-in-sealed", PUBLISHED)
SEALED = "clients-sealed"
OVER = ("released", "purged")
"""States of a campaign after the last one in which something is taken or waited for."""
_SECONDS = 30.0
_MOST_BYTES = 2**28
ANSWER = "the collector's answer"
"""What answers are called in complaints about them."""


class CollectorError(BlenderError):
    """The collector did not answer as documented; the same may be tried later."""

    def __init__(self, status: int | None = None) -> None:
        self.status = status
        super().__init__("the collector did not answer as documented")


class Collector:
    """Requests to one collector."""

    def __init__(self, address: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.client = httpx.AsyncClient(
            base_url=address.rstrip("/"),
            timeout=_SECONDS,
            headers={"user-agent": "blender-dp"},
            transport=transport,
        )

    async def state(self, campaign: UUID) -> str | None:
        """Return the state of a campaign; None if the collector does not know it."""
        found = await self.get(f"/v1/campaigns/{campaign}")
        with documented():
            return None if found is None else Fields(ANSWER, found).text("state")

    async def head_list(self, campaign: UUID) -> Mapping[str, Any] | None:
        """Return the signed head list of a campaign, unchecked; None if there is none."""
        return await self.get(f"/v1/campaigns/{campaign}/head-list")

    async def announced(self, start: int) -> Sequence[UUID | None] | None:
        """Return the campaign of each head list in the public log, from an index on.

        Other entries give None. So does the whole answer if the log has fewer entries than that.
        """
        try:
            found = await self.get(f"/v1/log?from={start}")
        except CollectorError as error:
            if error.status == 400:
                return None
            raise
        if found is None:
            return ()
        with documented():
            return [
                UUID(entry.text("campaign")) if entry.text("kind") == PublicKind.HEAD_LIST else None
                for entry in Fields(ANSWER, found).parts("entries")
            ]

    async def close(self) -> None:
        """End all connections."""
        await self.client.aclose()

    async def get(self, path: str) -> dict[str, Any] | None:
        """Return a document of the collector; None if there is none."""
        try:
            answer = await self.client.get(path)
        except httpx.HTTPError:
            raise CollectorError from None
        if answer.status_code == 404:
            return None
        if answer.status_code != 200 or len(answer.content) > _MOST_BYTES:
            raise CollectorError(answer.status_code)
        with documented():
            return read_object(ANSWER, answer.content)


async def bind_collector(database: Database, public_key: str) -> str:
    """Return the collector's key: the one that is stored, or this one from now on."""

    async def bind(tx: Statements) -> str:
        found = await first(tx, "SELECT public_key FROM collector")
        if found is None:
            await tx.run("INSERT INTO collector (public_key) VALUES ($1)", public_key)
            return public_key
        return str(found[0])

    return await database.write(bind)


@contextmanager
def documented() -> Iterator[None]:
    """Refuse an answer that came but does not read as documented, such as a proxy's page."""
    try:
        yield
    except (InputError, KeyError, TypeError, ValueError):
        raise CollectorError(200) from None
