"""Rows of a log by user on Spark: sorted within partitions, each user's rows in one of them."""

from dataclasses import dataclass

import narwhals as nw
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from blender_dp.engine.tables import Frame


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparkUserRows:
    """Rows with their place; the places of a user's records follow one another."""

    rows: Frame
    """Columns: user_key, row, perhaps is_blank, and place."""
    last_row: int | None

    @classmethod
    def of(cls, rows: DataFrame) -> "SparkUserRows":
        """Compute rows that are kept: user_key, row, perhaps is_blank, and place.

        A user's records come in the order of the rows, then the rows that are not records.
        """
        last = rows.agg(sf.max("row")).first()
        return cls(rows=nw.from_native(rows), last_row=None if last is None else last[0])

    @property
    def users(self) -> Frame:
        """Every user once, with first_place: the smallest of the user's places."""
        blank = sf.col("is_blank") if "is_blank" in self.rows.columns else sf.lit(False)
        users: DataFrame = (
            self.rows.to_native()
            .groupBy("user_key")
            .agg(
                sf.min("row").alias("row"),
                sf.min("place").alias("first_place"),
                sf.count(sf.when(~blank, 1)).alias("records"),
            )
        )
        return nw.from_native(users)

    def drawn(self, users: Frame, *, all_before: int) -> Frame:
        """Return position, row and rank of the record that ``number`` names, and of all others."""
        place = nw.col("first_place") + nw.col("number")
        others = nw.col("position") < all_before
        alone = users.filter(~others) if all_before else users
        found = self.rows.select("place", "row").join(
            alone.select("position", place=place), on="place", how="inner"
        )
        drawn = found.select("position", "row", rank=nw.lit(1, nw.Int64))
        if not all_before:
            return drawn
        own = self.all_of(users.filter(others).rename({"number": "drawn"}))
        rank = nw.when(nw.col("number") == nw.col("drawn")).then(nw.lit(1, nw.Int64))
        whole = own.select("position", "row", rank=rank.otherwise(nw.lit(2, nw.Int64)))
        return nw.concat([drawn, whole])

    def all_of(self, users: Frame) -> Frame:
        """Return every record of these users: the users' columns, row and number."""
        own = self.rows.select("user_key", "row", "place").join(users, on="user_key", how="inner")
        numbered = own.with_columns(number=nw.col("place") - nw.col("first_place"))
        return numbered.filter(nw.col("number") < nw.col("records")).drop("place")
