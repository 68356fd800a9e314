"""Protocol of a small server's database, and what a server says of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from blender_dp.core.errors import BlenderError
from blender_dp.server.databases.statements import Answer, Statements


class UnavailableError(BlenderError):
    """The database cannot do this now, and changed nothing."""

    def __init__(self) -> None:
        super().__init__("the database does not answer, or its disk is full")


Work = Callable[[Statements], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Tables of one kind of server."""

    package: str
    """Where ``sqlite/migrations`` and ``postgres/migrations`` are."""
    scrubbed: tuple[str, ...]
    """Tables of which nothing may remain once a row is deleted."""
    lock: int
    """Number of PostgreSQL's lock that keeps two processes from migrating at once."""


class Database(Protocol):
    """A database that is up to date with the software's schema."""

    async def read(self, work: Work[Answer]) -> Answer:
        """Run queries on one consistent view of the database."""
        ...

    async def write(self, work: Work[Answer]) -> Answer:
        """Do work in a transaction; it is on disk when this returns."""
        ...

    async def scrub(self) -> bool:
        """Overwrite the remains of deleted rows; return False if it must be tried again."""
        ...

    async def close(self) -> None:
        """Finish the work that was begun and close every connection."""
        ...
