"""One group's users in a log, for those who hold only that side of the data."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from blender_dp.core.errors import BlenderError
from blender_dp.core.randomness import Randomness
from blender_dp.engine.group_sizes import FEWEST_OPT_IN
from blender_dp.engine.population import TableUsers, open_users
from blender_dp.engine.run import READING, Log, Workspace


@contextmanager
def opened_side(
    log: Log,
    side: Literal["opt-in", "client"],
    randomness: Randomness,
    workspace: Workspace,
    *,
    records_per_user: int,
) -> Iterator[TableUsers]:
    """Open a log and give its users of one group: all, or those whom its group column names."""
    workspace.progress(READING)
    has_groups = log.columns.group is not None
    with log.opened(workspace) as (tables, _):
        users = open_users(
            tables, randomness, has_groups=has_groups, records_per_user=records_per_user
        )
        if has_groups:
            opted_in = users.count_opted_in()
            opt_in, clients = replace(users, stop=opted_in), replace(users, start=opted_in)
            users = opt_in if side == "opt-in" else clients
        fewest = FEWEST_OPT_IN if side == "opt-in" else 1
        if users.size < fewest:
            raise BlenderError(
                f"at least {fewest} {side} users are needed; this log has {users.size}"
            )
        yield users
