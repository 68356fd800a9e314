"""Search for bytes in every file of a store."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from blender_dp.service.storage.database_store import DatabaseStore
from blender_dp.service.storage.open_store import open_store
from postgres_server import PostgresServer

_PATIENCE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedStore:
    """A store and where its files are."""

    store: DatabaseStore
    address: str
    directory: Path

    async def found(self, *secrets: bytes) -> set[bytes]:
        """Return those secrets that are in some file.

        The journal of PostgreSQL is not looked at: the server alone decides when it is reused.
        """
        if self.address.startswith("postgresql"):
            connection = await asyncpg.connect(self.address)
            await connection.execute("CHECKPOINT")  # writes its memory, removes old files
            await connection.close()
        return {secret for content in self._contents() for secret in secrets if secret in content}

    async def until_gone(self, *secrets: bytes) -> None:
        """Wait until no file holds any of them."""
        async with asyncio.timeout(_PATIENCE):
            while await self.found(*secrets):
                await asyncio.sleep(0.1)

    def _contents(self) -> Iterator[bytes]:
        for path in self.directory.rglob("*"):
            try:
                if path.is_file():
                    yield path.read_bytes()
            except FileNotFoundError:  # it was removed just now
                continue


async def sqlite_store(directory: Path) -> ScannedStore:
    """Open a store in a directory, new or copied."""
    directory.mkdir(exist_ok=True)
    address = str(directory / "service.sqlite")
    return ScannedStore(store=await open_store(address), address=address, directory=directory)


async def postgres_store(server: PostgresServer) -> ScannedStore:
    """Open a store in an empty database."""
    address = await server.fresh_database()
    store = await open_store(address)
    connection = await asyncpg.connect(address)
    number = await connection.fetchval(
        "SELECT oid FROM pg_database WHERE datname = current_database()"
    )
    await connection.close()
    directory = server.cluster / "base" / str(number)
    return ScannedStore(store=store, address=address, directory=directory)
