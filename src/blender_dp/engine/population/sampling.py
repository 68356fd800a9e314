"""Uniform sample of each user's own records, and the users in a secret random order.

A user's records are numbered from 0 in the order of the files. The start of a user is a
keyed hash of the user id. Modulo the number of the user's records it is the number of the record
that is drawn first. So a user's sample does not depend on the rows of other users.
"""

from dataclasses import dataclass

import narwhals as nw

from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.population.keyed_permutation import PRIME, KeyedPermutation
from blender_dp.engine.tables import Frame, Tables, UserRows

MOST_ROWS = 2**31
_DRAWN_BY = ("number", "start", "records")


@dataclass(frozen=True, slots=True)
class SamplingKeys:
    """The two secret keys of a run, new for each run."""

    records: KeyedPermutation
    """Decides which of a user's records are drawn."""
    users: KeyedPermutation
    """Decides the order of the users."""

    @classmethod
    def draw(cls, randomness: Randomness) -> "SamplingKeys":
        """Draw both keys."""
        return cls(KeyedPermutation.draw(randomness), KeyedPermutation.draw(randomness))

    def draw_order(self, number: int, start: int, records: int) -> int:
        """Return the number by which records are drawn, the smallest first.

        Each of a user's n records is among the first m with a chance of m/n over the start.

        Args:
            number: Number of the record among the user's own.
            start: The user's keyed hash.
            records: How many the user has.
        """
        distance = (number - start) % records
        return self.records.of_large(distance) if distance else -1

    def with_draw_order(self, frame: Frame) -> Frame:
        """Add ``order``: :meth:`draw_order` of number, start and records."""
        records = nw.col("records")
        behind = nw.col("number") + records - nw.col("start") % records
        distances = frame.with_columns(distance=behind % records)
        shuffled = self.records.with_shuffled(distances, "distance")
        is_first = nw.col("distance") == 0
        order = nw.when(is_first).then(nw.lit(-1)).otherwise(nw.col("shuffled"))
        return shuffled.with_columns(order=order).drop("shuffled", "distance")


def find_users(tables: Tables, log: Frame, rows: UserRows, keys: SamplingKeys) -> Frame:
    """Return every user once; the rows' own table of users is freed.

    Columns: those of the rows' users, user, user_id, perhaps opt_in, and start.
    """
    users = given = rows.users
    said = [n for n in ("user", "opt_in") if n in log.columns and n not in users.columns]
    if said:  # any row of a user has the user's id and group
        users = log.select("row", *said).join(tables.materialise(users), on="row", how="inner")
    known = tables.keep(tables.with_user_id(users.drop("row")))
    tables.free(given)
    return keys.records.with_shuffled(known, "user_id").rename({"shuffled": "start"})


def sample_records(
    rows: UserRows, users: Frame, keys: SamplingKeys, records_per_user: int, *, all_before: int
) -> Frame:
    """Return the drawn rows, at most ``records_per_user`` per user, and all rows of some users.

    Args:
        rows: The rows of every user.
        users: The result of :func:`find_users`, with position.
        keys: The secret keys.
        records_per_user: Most rows that are drawn per user.
        all_before: Of users at positions before this, all other rows are returned as well.

    Returns:
        Position, row and rank: 1 is drawn first; rows that are not drawn come after all others.
    """
    users = users.filter(nw.col("records") > 0)
    if records_per_user == 1:
        drawn = users.with_columns(number=nw.col("start") % nw.col("records"))
        return rows.drawn(drawn, all_before=all_before)
    own = rows.all_of(users)
    ordered = keys.with_draw_order(own.select("position", "row", *_DRAWN_BY))
    rank = nw.col("order").rank("ordinal").over("position").cast(nw.Int64)
    ranked = ordered.select("position", "row", rank=rank)
    is_drawn, is_whole = nw.col("rank") <= records_per_user, nw.col("position") < all_before
    return ranked.filter(is_drawn | is_whole)


def in_secret_order(
    tables: Tables, users: Frame, keys: KeyedPermutation, *, has_groups: bool
) -> Frame:
    """Return users with position: 0 is first in a secret random order, opt-in users come first.

    The order does not depend on records (reading R6). Any range of positions is a uniformly
    random set of users.
    """
    shuffled = keys.with_shuffled(users, "user_id")
    if has_groups:  # one number, because a sort by two columns takes longer
        behind = nw.when(nw.col("opt_in")).then(nw.lit(0)).otherwise(nw.lit(PRIME))
        shuffled = shuffled.with_columns(shuffled=nw.col("shuffled") + behind)
    return tables.placed(shuffled, ["shuffled", "user_id", "user"])
