"""Users of a log in a secret random order, before their records are read."""

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
    """Users by position; their records are fetched afterwards."""

    tables: Tables
    keys: SamplingKeys
    log: Frame
    rows: Frame
    """Rows of every user: user_key, row and place."""
    users: Frame
    """Columns: position, user_key, and the numbers that decide which records are drawn."""
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

        A log that is slow to read is read once and kept. It is read three times instead if one
        record per user is enough and the text of all rows may not fit into memory.
        """
        keys = SamplingKeys.draw(randomness)
        log = tables.log()
        has_only_records = tables.has_only_records
        is_kept = all_rows or records_per_user > 1 or tables.holds_log
        if is_kept and not tables.rescans_cheaply:
            log = tables.materialise(log)
            # Cheap to check here; if so, the sort needs one column less.
            has_only_records = count_rows(tables, log.filter(nw.col("query").is_null())) == 0
        rows = rows_by_user(tables, log, has_only_records=has_only_records)
        users = find_users(tables, log, rows, keys)
        _require_usable(tables, rows, users)
        placed = in_secret_order(tables, users, keys.users, has_groups=has_groups)
        size = count_rows(tables, placed)
        return cls(tables=tables, keys=keys, log=log, rows=rows, users=placed, size=size)

    def count_opted_in(self) -> int:
        """Count the users that the log's group column calls opt-in."""
        return count_rows(self.tables, self.users.filter(nw.col("opt_in")))

    def fetch_rows(self, records_per_user: int, *, all_before: int) -> Frame:
        """Fetch at most a number of rows per user, and all rows of the users before a position.

        Columns: position, row, query, url and rank. Rank 1 is drawn first; rows that are not drawn
        come after all others.
        """
        wanted = sample_records(self.rows, self.users, self.keys, records_per_user)
        if all_before:
            before = nw.col("position") < all_before
            wanted = self.tables.materialise(wanted)
            place = self.users.filter(before).select("user_key", "position")
            rows = self.rows.select("user_key", "row").join(place, on="user_key")
            # Materialise first: otherwise DuckDB joins against the whole log.
            others = self.tables.materialise(rows).join(wanted.filter(before), on="row", how="anti")
            after = nw.lit(records_per_user + 1, nw.Int64)
            wanted = nw.concat([wanted, others.select("position", "row", rank=after)])
        records = self.log.select("row", "query", "url")
        fetched = records.join(self.tables.materialise(wanted), on="row", how="inner")
        return self.tables.materialise(fetched.select("position", "row", "query", "url", "rank"))


def count_rows(tables: Tables, frame: Frame) -> int:
    """Return how many rows ``frame`` has."""
    return _fetch_one(tables, frame.select(count=nw.len())) or 0


def _fetch_one(tables: Tables, frame: Frame) -> int | None:
    value = tables.fetch(frame).column(0)[0].as_py()
    return None if value is None else int(value)


def _require_usable(tables: Tables, rows: Frame, users: Frame) -> None:
    """Refuse a log without rows, with rows that name no user, or with too many rows to number."""
    last_row = _fetch_one(tables, rows.select(last_row=nw.col("row").max()))
    nameless = nw.col("user").is_null().cast(nw.Int64).sum()
    if _fetch_one(tables, users.select(nameless=nameless)):
        raise InputError(tables.label, "every row must name its user, but some do not")
    if last_row is None:
        raise InputError(tables.label, "the log is empty: it has no users")
    if last_row >= MOST_ROWS:
        raise ParameterError("rows", f"at most {MOST_ROWS:,} in one log", f"more than {last_row:,}")
