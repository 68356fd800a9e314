"""Statements of PostgreSQL: the shared ones, as they are."""

from collections.abc import Sequence
from typing import Any, cast

from blender_dp.server.databases.statements import Row


class PostgresStatements:
    """Statements on a connection inside a transaction."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - asyncpg publishes no types
        self._connection = connection

    async def rows(self, statement: str, *values: object) -> Sequence[Row]:
        """Return the rows that a statement gives."""
        return cast("Sequence[Row]", await self._connection.fetch(statement, *values))

    async def run(self, statement: str, *values: object) -> None:
        """Run a statement for its effect."""
        await self._connection.execute(statement, *values)

    async def run_many(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for every row of values."""
        await self._connection.executemany(statement, rows)

    async def run_script(self, script: str) -> None:
        """Run several statements, those of a migration."""
        await self._connection.execute(script)
