"""Population of a campaign's opt-in users for the five steps, in memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from blender_dp.core.blender import PRESETS
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.parameters import Parameters

if TYPE_CHECKING:
    from blender_dp.engine.population.table_population import TableUsers


class ContributedRows:
    """All contributed records, one column per field; a user without records has an empty row."""

    def __init__(self) -> None:
        self._users: list[str] = []
        self._queries: list[str | None] = []
        self._urls: list[str | None] = []
        self.contributors = 0

    def add(self, records: Sequence[Record]) -> None:
        """Add one more user, identified by a number only."""
        rows: Sequence[Record | tuple[None, None]] = records or [(None, None)]
        self._users += [str(self.contributors)] * len(rows)
        self._queries += [query for query, _ in rows]
        self._urls += [url for _, url in rows]
        self.contributors += 1

    def table(self) -> pa.Table:
        """Return all rows as a table for the engine."""
        columns = {"user": self._users, "query": self._queries, "url": self._urls}
        return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


@contextmanager
def contributed_users(
    rows: ContributedRows, parameters: Parameters, randomness: Randomness
) -> "Iterator[TableUsers]":
    """Yield the population of opt-in users; their records never leave this process's memory."""
    # DuckDB takes a fifth of the service's start, and only this job needs it.
    from blender_dp.engine.population.held_rows import opened_rows  # noqa: PLC0415

    with opened_rows(
        rows.table(),
        randomness,
        records_per_user=parameters.records_per_optin_user,
        all_rows=PRESETS[parameters.preset].asks_all_rows,
    ) as users:
        yield users
