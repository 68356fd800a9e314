"""Protocol of the statements that run in a transaction.

Statements are written once, in SQL that both SQLite and PostgreSQL accept, with ``$1``, ``$2`` for
values. They run in coroutines: PostgreSQL waits in them, SQLite never does.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

Row = Sequence[Any]
Answer = TypeVar("Answer")
Checkpoint = Callable[[str], None]
"""Called with the name of a point in a write; a kill test ends the process there."""


def no_checkpoint(_point: str) -> None:
    """Do nothing."""


class Statements(Protocol):
    """Statements that take effect together or not at all."""

    async def rows(self, statement: str, *values: object) -> Sequence[Row]:
        """Return the rows that a statement gives."""
        ...

    async def run(self, statement: str, *values: object) -> None:
        """Run a statement for its effect."""
        ...

    async def run_many(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for every row of values."""
        ...

    async def run_script(self, script: str) -> None:
        """Run several statements, those of a migration."""
        ...


async def first(tx: Statements, statement: str, *values: object) -> Row | None:
    """Return the first row, or None if there is none."""
    found = await tx.rows(statement, *values)
    return found[0] if found else None
