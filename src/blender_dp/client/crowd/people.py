"""People of a log, for a simulation: the records that each would contribute or report."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pyarrow as pa

from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.population.group_sizes import (
    opt_in_users,
    relay_users,
    require_both_groups,
)
from blender_dp.engine.population.ordered_users import OrderedUsers
from blender_dp.wire.service.contribution import MOST_QUERY_BYTES, MOST_RECORDS, MOST_URL_BYTES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Records of each opt-in user, and the one record of each relay client and local client."""

    opt_in: Sequence[Sequence[Record]]
    clients: Sequence[Record | None]
    """Drawn record of each local client; None if the drawn row is not a record."""
    relayed: Sequence[Record | None] = ()
    """Drawn record of each relay client, likewise."""


def cells_of(records: Sequence[Record | None], head_list: HeadList) -> IntArray:
    """Return the cell of every client's record."""
    index = head_list.cell_index()
    cells = (
        index.other if record is None else index.cell(record.query, record.url)
        for record in records
    )
    return np.fromiter(cells, dtype=np.int64, count=len(records))


def read_people(
    log: Log,
    *,
    count: int | None,
    opt_in: float,
    relay: float = 0.0,
    workspace: Workspace,
    randomness: Randomness,
) -> People:
    """Draw people from a log, and one uniform row of each client.

    Args:
        log: The files; a group column, if there is one, decides who opts in.
        count: Number of people; all if None.
        opt_in: Share of them who opt in, if there is no group column.
        relay: Share of the clients who use the relay; the order of users decides who.
        workspace: Memory, disk and progress.
        randomness: Draws people and rows.
    """
    has_groups = log.columns.group is not None
    with log.opened(workspace) as (tables, _):
        users = OrderedUsers.of(tables, randomness, has_groups=has_groups)
        count = users.size if count is None else count
        if not 1 <= count <= users.size:
            raise ParameterError("count", f"from 1 to the {users.size:,} users of the log", count)
        opted_in = opt_in_users(count, opt_in)
        first_client = opted_in
        if has_groups:
            first_client = users.count_opted_in()
            opted_in = round(count * first_client / users.size)
        require_both_groups(opted_in, count - opted_in)
        rows = users.fetch_rows(1, all_before=opted_in)
        position = nw.col("position")
        theirs = rows.filter(position < opted_in).sort("position", "row")
        last_client = first_client + count - opted_in
        drawn = rows.filter(position >= first_client, position < last_client, nw.col("rank") == 1)
        clients = _records(tables.fetch(drawn.sort("position")))
        relayed = relay_users(len(clients), relay)
        return People(
            opt_in=_by_user(tables.fetch(theirs), opted_in),
            clients=clients[relayed:],
            relayed=clients[:relayed],
        )


def _by_user(rows: pa.Table, users: int) -> list[list[Record]]:
    """Group rows by user, without rows that are not records or that no upload may hold."""
    records: list[list[Record]] = [[] for _ in range(users)]
    positions = rows["position"].to_pylist()
    for position, record in zip(positions, _records(rows), strict=True):
        own = records[position]
        if record is not None and len(own) < MOST_RECORDS and _is_uploadable(record):
            own.append(record)
    return records


def _records(rows: pa.Table) -> list[Record | None]:
    queries, urls = rows["query"].to_pylist(), rows["url"].to_pylist()
    return [
        None if query is None or url is None else Record(query, url)
        for query, url in zip(queries, urls, strict=True)
    ]


def _is_uploadable(record: Record) -> bool:
    return (
        0 < len(record.query.encode()) <= MOST_QUERY_BYTES
        and 0 < len(record.url.encode()) <= MOST_URL_BYTES
    )
