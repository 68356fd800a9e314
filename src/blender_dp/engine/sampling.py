"""One uniform sample of each user's own records, and the users in a secret random order.

Of every user's rows those with the smallest secret keys are kept. A key is the permuted row
number followed by the row number, in one integer, so that keys never tie and carry the row
they stand for. Rows without a record have larger keys than any row with one: they are kept
only for users who have nothing else, because such users count too.
"""

from dataclasses import dataclass

import narwhals as nw

from blender_dp.core.randomness import Randomness
from blender_dp.engine.keyed_permutation import KeyedPermutation
from blender_dp.engine.tables import Frame, Tables

MOST_ROWS = 2**31
NO_RECORD = 2**62


@dataclass(frozen=True, slots=True)
class SamplingKeys:
    """The two secret keys of a run, fresh for each."""

    rows: KeyedPermutation
    users: KeyedPermutation

    @classmethod
    def draw(cls, randomness: Randomness) -> "SamplingKeys":
        """Draw both keys."""
        return cls(KeyedPermutation.draw(randomness), KeyedPermutation.draw(randomness))


def keyed_log(tables: Tables, keys: KeyedPermutation) -> Frame:
    """Return the log with ``key``, by which a user's rows are drawn: the smallest come first."""
    return tables.log(keys).with_columns(key=_key(tables)).drop("shuffled")


def _key(tables: Tables) -> nw.Expr:
    row = nw.col("row")
    key = nw.col("shuffled") * MOST_ROWS + row
    if tables.has_only_records:  # then no string has to be read to compute a key
        return key
    return key + nw.when(nw.col("query").is_null()).then(nw.lit(NO_RECORD)).otherwise(nw.lit(0))


def first_drawn(keyed: Frame, *, with_record: bool) -> Frame:
    """Return every user once, with the row drawn first.

    Columns: user_key, user, perhaps opt_in, row, key, rank (1), and last_row: the user's largest
    row number, by which rows beyond :data:`MOST_ROWS` are noticed.

    Args:
        keyed: The log with keys.
        with_record: Whether to carry the strings of the drawn row along, as query and url: that
            is one pass over slow input. Without, only who the users are is read.
    """
    of_user = [
        nw.col(name).any_value(ignore_nulls=True)
        for name in ("user", "opt_in")
        if name in keyed.columns
    ]
    of_row = [nw.col(name).first(order_by="key") for name in ("query", "url") if with_record]
    users = keyed.group_by("user_key").agg(
        nw.col("key").min(), *of_user, *of_row, last_row=nw.col("row").max()
    )
    return users.with_columns(row=nw.col("key") % MOST_ROWS, rank=nw.lit(1, nw.Int64))


def sample_records(keyed: Frame, records_per_user: int) -> Frame:
    """Return which rows are drawn: at most so many of each user.

    Columns: user_key, row, rank (1 is the first drawn).
    """
    ranked = keyed.select(
        "user_key", "row", rank=nw.col("key").rank("ordinal").over("user_key").cast(nw.Int64)
    )
    return ranked.filter(nw.col("rank") <= records_per_user)


def in_secret_order(
    tables: Tables, users: Frame, keys: KeyedPermutation, *, has_groups: bool
) -> Frame:
    """Return users with position: 0 is first in a secret random order, opt-in users come first.

    The order never sees a record (reading R6). Any range of positions is a uniformly
    random set of users.
    """
    is_client = nw.when(nw.col("opt_in")).then(nw.lit(0)).otherwise(nw.lit(1))
    keyed = users.with_columns(is_client=is_client if has_groups else nw.lit(1))
    order = ["is_client", "shuffled", "user_id", "user"]
    return tables.placed(keys.with_shuffled(keyed, "user_id"), order)
