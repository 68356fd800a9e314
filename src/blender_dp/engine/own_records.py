"""What users searched for, each record once a user: from all their rows, not from a sample."""

from dataclasses import dataclass

import narwhals as nw

from blender_dp.core.cells import IntArray
from blender_dp.engine.keyed_permutation import KeyedPermutation
from blender_dp.engine.sampling import MOST_ROWS
from blender_dp.engine.tables import Frame, Tables


@dataclass(frozen=True, slots=True, eq=False)
class OwnRecords:
    """Every user's distinct records, and of how many rows."""

    tables: Tables
    keys: KeyedPermutation
    """Decides which records are kept of a user who has too many."""
    records: Frame
    """Position, query, url, rows and first_row: where the user's record first appears."""
    users: Frame
    """Of everyone with records: position, user_records and user_rows."""

    @classmethod
    def of(cls, tables: Tables, rows: Frame, keys: KeyedPermutation) -> "OwnRecords":
        """Group the rows that are records by user and record."""
        grouped = (
            rows.filter(~nw.col("query").is_null())
            .group_by("position", "query", "url")
            .agg(rows=nw.len().cast(nw.Int64), first_row=nw.col("row").min())
        )
        records = tables.materialise(grouped)
        users = records.group_by("position").agg(
            user_records=nw.len().cast(nw.Int64), user_rows=nw.col("rows").sum().cast(nw.Int64)
        )
        return cls(tables, keys, records, tables.materialise(users))

    def of_users(self, start: int, stop: int) -> "OwnRecords":
        """Return those of the users at a range of positions."""
        chosen = (nw.col("position") >= start, nw.col("position") < stop)
        records, users = self.records.filter(*chosen), self.users.filter(*chosen)
        return OwnRecords(self.tables, self.keys, records, users)

    def user_counts(self, most: int) -> Frame:
        """Return how many users (count) have k records, more than ``most`` being ``most``."""
        capped = self.users.select(k=_at_most(nw.col("user_records"), most))
        return capped.group_by("k").agg(count=nw.len().cast(nw.Int64))

    def weighed(self, weights: IntArray) -> Frame:
        """Return query, url, sum and first_row: what users add to their records, added up.

        A user's records are kept in the secret order of the rows where they first appear, which
        says nothing about how often they occur.
        """
        most = len(weights) - 1
        weight = self.tables.upload({"k": list(range(most + 1)), "weight": weights.tolist()})
        users = self.users.with_columns(k=_at_most(nw.col("user_records"), most))
        records = self.records.join(users.join(weight, on="k", how="inner"), on="position")
        sums = records.join(self._dropped(most), on="first_row", how="anti").group_by(
            "query", "url"
        )
        return sums.agg(
            sum=nw.col("weight").sum().cast(nw.Int64), first_row=nw.col("first_row").min()
        )

    def _dropped(self, most: int) -> Frame:
        """Return the first_row of the records that are not kept."""
        first_row = nw.col("first_row")
        order = self.keys.of_small(first_row) * MOST_ROWS + first_row
        crowded = self.users.filter(nw.col("user_records") > most).select("position")
        records = self.records.join(crowded, on="position", how="semi")
        # Kept first, without the strings: the window would work out the order again and again.
        ordered = self.tables.materialise(records.select("position", order=order))
        ranked = ordered.with_columns(place=nw.col("order").rank("ordinal").over("position"))
        dropped = ranked.filter(nw.col("place") > most)
        return self.tables.materialise(dropped.select(first_row=nw.col("order") % MOST_ROWS))

    def with_rows_of_user(self) -> Frame:
        """Return position, query, url, rows and user_rows."""
        return self.records.join(self.users, on="position")


def _at_most(count: nw.Expr, most: int) -> nw.Expr:
    return nw.when(count > most).then(nw.lit(most, nw.Int64)).otherwise(count)
