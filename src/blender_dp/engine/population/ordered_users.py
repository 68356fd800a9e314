"""Everybody in a log, in a secret random order, before their records are read."""

from dataclasses import dataclass

import narwhals as nw

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.population.sampling import (
    MOST_ROWS,
    SamplingKeys,
    find_users,
    in_secret_order,
    rows_by_user,
    sample_records,
)
from blender_dp.engine.tables import Frame, Tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedUsers:
    """Users by position: who they are is known, what they searched for is fetched next."""

    tables: Tables
    keys: SamplingKeys
    log: Frame
    rows: Frame
    """Where every user's rows are: user_key, row and place."""
    users: Frame
    """Position, user_key, and what decides which of the user's records are drawn."""
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

        What is slow to read is kept if more than one record of each user is asked for. For one
        it is read three times, because all rows as text take five times the memory.
        """
        keys = SamplingKeys.draw(randomness)
        log = tables.log()
        if not tables.rescans_cheaply and (all_rows or records_per_user > 1):
            log = tables.materialise(log)
        rows = rows_by_user(tables, log)
        users = find_users(tables, log, rows, keys)
        _require_usable(tables, users)
        placed = in_secret_order(tables, users, keys.users, has_groups=has_groups)
        size = count_rows(tables, placed)
        return cls(tables=tables, keys=keys, log=log, rows=rows, users=placed, size=size)

    def count_opted_in(self) -> int:
        """Count those whom the log's group column calls opt-in."""
        return count_rows(self.tables, self.users.filter(nw.col("opt_in")))

    def fetch_rows(self, records_per_user: int, *, all_before: int) -> Frame:
        """Fetch at most so many rows of each user, and all rows of those before a position.

        Columns: position, row, query, url and rank: 1 is drawn first, and what is not among the
        rows drawn comes after all of them.
        """
        wanted = sample_records(self.rows, self.users, self.keys, records_per_user)
        if all_before:
            before = nw.col("position") < all_before
            wanted = self.tables.materialise(wanted)
            place = self.users.filter(before).select("user_key", "position")
            rows = self.rows.select("user_key", "row").join(place, on="user_key")
            # Materialise first: otherwise DuckDB looks for the drawn among everybody's rows.
            others = self.tables.materialise(rows).join(wanted.filter(before), on="row", how="anti")
            after = nw.lit(records_per_user + 1, nw.Int64)
            wanted = nw.concat([wanted, others.select("position", "row", rank=after)])
        records = self.log.select("row", "query", "url")
        fetched = records.join(self.tables.materialise(wanted), on="row", how="inner")
        return self.tables.materialise(fetched.select("position", "row", "query", "url", "rank"))


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
