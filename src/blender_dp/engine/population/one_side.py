"""Users of one group in a log, for a data holder who has only that group."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from blender_dp.core.errors import BlenderError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.population.group_sizes import FEWEST_OPT_IN
from blender_dp.engine.population.ordered_users import OrderedUsers
from blender_dp.engine.population.table_population import TableUsers
from blender_dp.engine.run import READING
from blender_dp.engine.tables import Tables

Side = Literal["opt-in", "client"]


@contextmanager
def opened_side(
    log: Log,
    side: Side,
    randomness: Randomness,
    workspace: Workspace,
    *,
    records_per_user: int,
    all_rows: bool = False,
) -> Iterator[TableUsers]:
    """Open a log and yield its users of one group: all, or those that its group column names.

    Args:
        log: The files.
        side: The group.
        randomness: For the secret keys.
        workspace: Memory, disk and progress.
        records_per_user: Most records per user that a step will use.
        all_rows: Whether a step will use all rows of opt-in users.
    """
    workspace.progress(READING)
    with log.counted(workspace) as counted:
        yield users_of_side(
            counted.tables,
            side,
            randomness,
            has_groups=log.columns.group is not None,
            records_per_user=records_per_user,
            all_rows=all_rows,
        )


def users_of_side(
    tables: Tables,
    side: Side,
    randomness: Randomness,
    *,
    has_groups: bool,
    records_per_user: int,
    all_rows: bool,
) -> TableUsers:
    """Return the users of one group, or all if the rows do not name groups."""
    ordered = OrderedUsers.of(tables, randomness, has_groups=has_groups)
    is_opt_in = side == "opt-in"
    opted_in = ordered.count_opted_in() if has_groups else ordered.size * is_opt_in
    everyone = TableUsers.of(ordered, records_per_user, all_before=opted_in * all_rows)
    users = replace(everyone, stop=opted_in) if is_opt_in else replace(everyone, start=opted_in)
    fewest = FEWEST_OPT_IN if is_opt_in else 1
    if users.size < fewest:
        raise BlenderError(f"at least {fewest} {side} users are needed; this log has {users.size}")
    return users
