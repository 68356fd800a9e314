"""Everybody in a log, in a secret random order, before their records are read."""

from dataclasses import dataclass

import narwhals as nw

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.core.randomness import Randomness
from blender_dp.engine.sampling import (
    MOST_ROWS,
    SamplingKeys,
    first_drawn,
    in_secret_order,
    keyed_log,
    sample_records,
)
from blender_dp.engine.tables import Frame, Tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedUsers:
    """Users by position: who they are is known, what they searched for is fetched next."""

    tables: Tables
    keys: SamplingKeys
    log: Frame
    """Its rows, with the keys by which they are drawn."""
    users: Frame
    """Position, user_key and the row drawn first; query and url too if they are read already."""
    size: int

    @classmethod
    def of(
        cls,
        tables: Tables,
        randomness: Randomness,
        *,
        has_groups: bool,
        records_per_user: int,
        all_rows: bool,
    ) -> "OrderedUsers":
        """Find the users of a log and order them, opt-in users first.

        What is slow to read is read once: the drawn records are carried along, or if more than
        those are asked for, the rows are kept.
        """
        keys = SamplingKeys.draw(randomness)
        log = keyed_log(tables, keys.rows)
        with_record = False
        if not tables.rescans_cheaply:
            with_record = records_per_user == 1 and not all_rows
            log = log if with_record else tables.materialise(log)
        drawn = first_drawn(log, with_record=with_record)
        users = tables.materialise(tables.with_user_id(drawn))
        _require_usable(tables, users)
        placed = in_secret_order(tables, users, keys.users, has_groups=has_groups)
        size = count_rows(tables, placed)
        return cls(tables=tables, keys=keys, log=log, users=placed, size=size)

    def count_opted_in(self) -> int:
        """Count those whom the log's group column calls opt-in."""
        return count_rows(self.tables, self.users.filter(nw.col("opt_in")))

    def fetch_rows(self, records_per_user: int, *, all_before: int) -> Frame:
        """Fetch at most so many rows of each user, and all rows of those before a position.

        Columns: position, row, query, url and rank: 1 is drawn first, and what is not among the
        rows drawn comes after all of them.
        """
        columns = ["position", "row", "query", "url", "rank"]
        if "query" in self.users.columns:
            return self.users.select(*columns)
        place = self.users.select("user_key", "position")
        if records_per_user == 1:
            wanted = self.users.select("position", "row", "rank")
        else:
            drawn = sample_records(self.log, records_per_user)
            wanted = drawn.join(place, on="user_key", how="inner").select("position", "row", "rank")
        if all_before:
            before = nw.col("position") < all_before
            rows = self.log.select("user_key", "row").join(place.filter(before), on="user_key")
            # Kept first, lest the engine looks for the drawn among everybody's rows.
            others = self.tables.materialise(rows).join(wanted.filter(before), on="row", how="anti")
            after = nw.lit(records_per_user + 1, nw.Int64)
            wanted = nw.concat([wanted, others.select("position", "row", rank=after)])
        records = self.log.select("row", "query", "url")
        fetched = records.join(self.tables.materialise(wanted), on="row", how="inner")
        return self.tables.materialise(fetched.select(*columns))


def count_rows(tables: Tables, frame: Frame) -> int:
    """Return how many rows ``frame`` has."""
    return int(tables.fetch(frame.select(count=nw.len()))["count"][0].as_py())


def _require_usable(tables: Tables, users: Frame) -> None:
    """Refuse a log without rows, with rows of nobody, or with more than can be numbered."""
    facts = users.select(
        last_row=nw.col("last_row").max(), nameless=nw.col("user").is_null().cast(nw.Int64).sum()
    )
    found = tables.fetch(facts)
    last_row, nameless = found["last_row"][0].as_py(), found["nameless"][0].as_py()
    if nameless:
        raise InputError(tables.label, "every row must name its user, and some do not")
    if last_row is None:
        raise InputError(tables.label, "the log is empty: it has no users")
    if last_row >= MOST_ROWS:
        raise ParameterError("rows", f"at most {MOST_ROWS:,} in one log", f"more than {last_row:,}")
