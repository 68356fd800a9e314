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


def sample_records(tables: Tables, keys: KeyedPermutation, records_per_user: int) -> Frame:
    """Return at most so many rows of each user.

    Columns: user, query, url, perhaps opt_in, row, rank (1 is the first drawn), and last_row: the
    user's largest row number, by which rows beyond :data:`MOST_ROWS` are noticed.
    """
    keyed = tables.log(keys).with_columns(key=_key(tables))
    if records_per_user > 1:
        ranked = keyed.with_columns(
            rank=nw.col("key").rank("ordinal").over("user_key"),
            last_row=nw.col("row").max().over("user_key"),
        )
        return ranked.filter(nw.col("rank") <= records_per_user)
    if tables.rescans_cheaply:
        return _by_smallest_key(tables, keyed)
    return _in_one_pass(keyed)


def _key(tables: Tables) -> nw.Expr:
    row = nw.col("row")
    key = nw.col("shuffled") * MOST_ROWS + row
    if tables.has_only_records:  # then no string has to be read to compute a key
        return key
    return key + nw.when(nw.col("query").is_null()).then(nw.lit(NO_RECORD)).otherwise(nw.lit(0))


def _by_smallest_key(tables: Tables, keyed: Frame) -> Frame:
    """Find each user's smallest key, then fetch those rows: strings are read for them only."""
    smallest = keyed.group_by("user_key").agg(nw.col("key").min(), last_row=nw.col("row").max())
    rows = tables.materialise(smallest.select("last_row", row=nw.col("key") % MOST_ROWS))
    chosen = keyed.drop("user_key", "key", "shuffled").join(rows, on="row", how="inner")
    return chosen.with_columns(rank=nw.lit(1))


def _in_one_pass(keyed: Frame) -> Frame:
    """Carry the strings of each user's smallest key along: one pass over slow input."""
    carried = [c for c in keyed.columns if c not in ("user_key", "key", "row", "shuffled")]
    first = [nw.col(name).first(order_by="key") for name in carried]
    last_row = nw.col("row").max()
    sample = keyed.group_by("user_key").agg(nw.col("key").min(), *first, last_row=last_row)
    return sample.with_columns(row=nw.col("key") % MOST_ROWS, rank=nw.lit(1))


def order_users(sample: Frame, keys: KeyedPermutation, *, has_groups: bool) -> Frame:
    """Add ``position``: 0 for the first user of a secret random order; opt-in users come first.

    The order never sees a record (reading R6). Any range of positions is a uniformly
    random set of users.
    """
    is_client = nw.when(nw.col("opt_in")).then(nw.lit(0)).otherwise(nw.lit(1))
    users = sample.filter(nw.col("rank") == 1).with_columns(
        shuffled=keys.of_large(nw.col("user_id")), is_client=is_client if has_groups else nw.lit(1)
    )
    order = ["is_client", "shuffled", "user_id", "user"]
    return users.with_row_index("position", order_by=order).select("user", "position")
