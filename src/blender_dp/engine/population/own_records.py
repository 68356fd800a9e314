"""Distinct records of every user, from all rows of the user instead of a sample."""

from dataclasses import dataclass, replace

import narwhals as nw

from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import NO_URL
from blender_dp.engine.population.record_key import RecordKey
from blender_dp.engine.population.sampling import SamplingKeys
from blender_dp.engine.tables import Frame, Tables


@dataclass(frozen=True, slots=True, eq=False)
class OwnRecords:
    """Every user's distinct records, each with its number of rows."""

    tables: Tables
    keys: SamplingKeys
    """Keys that decide which records of a user with too many are kept."""
    records: Frame
    """Columns: position, the key, rows, and first_row, where the user's record first appears."""
    users: Frame
    """One row per user with records: position, start (a keyed hash), user_records, user_rows."""
    key: RecordKey

    @classmethod
    def of(
        cls, tables: Tables, rows: Frame, starts: Frame, keys: SamplingKeys, key: RecordKey
    ) -> "OwnRecords":
        """Group the rows that are records by user and record.

        Args:
            tables: The engine that holds them.
            rows: Position, row and the key.
            starts: Position and start of at least these users.
            keys: The secret keys.
            key: What tells records apart.
        """
        grouped = (
            rows.filter(~nw.col(key.columns[0]).is_null())
            .group_by("position", *key.columns)
            .agg(rows=nw.len().cast(nw.Int64), first_row=nw.col("row").min())
        )
        records = tables.keep(grouped)
        users = records.group_by("position").agg(
            user_records=nw.len().cast(nw.Int64), user_rows=nw.col("rows").sum().cast(nw.Int64)
        )
        users = users.join(starts.select("position", "start"), on="position")
        return cls(tables, keys, records, tables.materialise(users), key)

    def of_users(self, start: int, stop: int) -> "OwnRecords":
        """Return the records of the users at a range of positions."""
        chosen = (nw.col("position") >= start, nw.col("position") < stop)
        return replace(self, records=self.records.filter(*chosen), users=self.users.filter(*chosen))

    def without_urls(self) -> "OwnRecords":
        """Return every user's distinct queries as records, each with its number of rows."""
        by_query = (
            self.key.with_names(self.records)
            .group_by("position", "query")
            .agg(rows=nw.col("rows").sum().cast(nw.Int64), first_row=nw.col("first_row").min())
        )
        records = self.tables.materialise(by_query.with_columns(url=nw.lit(NO_URL)))
        numbers = records.group_by("position").agg(user_records=nw.len().cast(nw.Int64))
        users = self.users.drop("user_records").join(numbers, on="position")
        return OwnRecords(
            self.tables, self.keys, records, self.tables.materialise(users), RecordKey()
        )

    def user_counts(self, most: int) -> Frame:
        """Return the number of users (count) with k records; k is at most ``most``."""
        capped = self.users.select(k=_at_most(nw.col("user_records"), most))
        return capped.group_by("k").agg(count=nw.len().cast(nw.Int64))

    def weighed(self, weights: IntArray) -> Frame:
        """Return the key, sum (the total weight that users give to a record) and first_row.

        Which records of a user are kept is decided by a secret order. It does not depend on how
        often records occur, nor on rows of other users.
        """
        most = len(weights) - 1
        weight = self.tables.upload({"k": list(range(most + 1)), "weight": weights.tolist()})
        users = self.users.with_columns(k=_at_most(nw.col("user_records"), most))
        records = self.records.join(users.join(weight, on="k", how="inner"), on="position")
        sums = records.join(self._dropped(most), on="first_row", how="anti").group_by(
            *self.key.columns
        )
        return sums.agg(
            sum=nw.col("weight").sum().cast(nw.Int64), first_row=nw.col("first_row").min()
        )

    def _dropped(self, most: int) -> Frame:
        """Return the first_row of the records that are not kept."""
        crowded = self.users.filter(nw.col("user_records") > most)
        users = crowded.select("position", "start", records="user_records")
        records = self.records.select("position", "first_row").join(users, on="position")
        number = nw.col("first_row").rank("ordinal").over("position").cast(nw.Int64) - 1
        numbered = self.tables.materialise(records.with_columns(number=number))
        # Materialise first: otherwise the window function computes the order repeatedly.
        ordered = self.tables.materialise(self.keys.with_draw_order(numbered))
        self.tables.free(numbered)
        ranked = ordered.with_columns(place=nw.col("order").rank("ordinal").over("position"))
        dropped = self.tables.materialise(ranked.filter(nw.col("place") > most).select("first_row"))
        self.tables.free(ordered)
        return dropped

    def with_rows_of_user(self) -> Frame:
        """Return position, the key, rows and user_rows."""
        return self.records.join(self.users, on="position")


def _at_most(count: nw.Expr, most: int) -> nw.Expr:
    return nw.when(count > most).then(nw.lit(most, nw.Int64)).otherwise(count)
