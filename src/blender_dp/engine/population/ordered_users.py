"""Users of a log in a secret random order, before their records are read."""

from dataclasses import dataclass

import narwhals as nw

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.population.record_key import RecordKey
from blender_dp.engine.population.sampling import (
    MOST_ROWS,
    SamplingKeys,
    find_users,
    in_secret_order,
    sample_records,
)
from blender_dp.engine.tables import Frame, Tables, UserRows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedUsers:
    """Users by position; their records are fetched afterwards."""

    tables: Tables
    keys: SamplingKeys
    log: Frame
    rows: UserRows
    users: Frame
    """Columns: position, those of the rows' users, and start, which decides what is drawn."""
    size: int

    @classmethod
    def of(
        cls,
        tables: Tables,
        randomness: Randomness,
        *,
        has_groups: bool,
    ) -> "OrderedUsers":
        """Find the users of a log and order them, opt-in users first."""
        keys = SamplingKeys.draw(randomness)
        log, rows = tables.log(), tables.rows_by_user()
        users = find_users(tables, log, rows, keys)
        size = _count_users(tables, rows, users)
        placed = in_secret_order(tables, users, keys.users, has_groups=has_groups)
        tables.free(users)
        return cls(tables=tables, keys=keys, log=log, rows=rows, users=placed, size=size)

    def count_opted_in(self) -> int:
        """Count the users that the log's group column calls opt-in."""
        return count_rows(self.tables, self.users.filter(nw.col("opt_in")))

    def fetch_rows(self, records_per_user: int, *, all_before: int) -> Frame:
        """Fetch at most a number of records per user, and all records of users before a position.

        Columns: position, row, query, url and rank. Rank 1 is drawn first; records that are not
        drawn come after all others.
        """
        wanted = self._wanted(records_per_user, all_before=all_before)
        kept = self.tables.keep(self._with_names(wanted))
        self.tables.free(wanted)
        return kept

    def fetch_keyed_rows(
        self, records_per_user: int, *, all_before: int
    ) -> tuple[Frame, RecordKey]:
        """Fetch the same rows, with the columns of a key in place of query and url."""
        if not all_before or records_per_user != 1:  # ranks may be above 2
            return self.fetch_rows(records_per_user, all_before=all_before), RecordKey()
        wanted = self._wanted(records_per_user, all_before=all_before)
        kept, names = self.tables.coded(self._with_names(wanted))
        self.tables.free(wanted)
        return kept, RecordKey(names)

    def _wanted(self, records_per_user: int, *, all_before: int) -> Frame:
        """Return position, row and rank of the rows to fetch."""
        return self.tables.materialise(
            sample_records(
                self.rows, self.users, self.keys, records_per_user, all_before=all_before
            )
        )

    def _with_names(self, wanted: Frame) -> Frame:
        fetched = self.log.select("row", "query", "url").join(wanted, on="row", how="inner")
        row = nw.col("row").cast(nw.Int32)
        return fetched.select("position", row, "query", "url", "rank")


def count_rows(tables: Tables, frame: Frame) -> int:
    """Return how many rows ``frame`` has."""
    return int(tables.fetch(frame.select(count=nw.len())).column(0)[0].as_py())


def _count_users(tables: Tables, rows: UserRows, users: Frame) -> int:
    """Return the number of users.

    Raises:
        InputError: The log has no rows, or rows that name no user.
        ParameterError: The log has too many rows to number.
    """
    nameless = nw.col("user").is_null().cast(nw.Int64).sum()
    [found] = tables.fetch(users.select(users=nw.len(), nameless=nameless)).to_pylist()
    if found["nameless"]:
        raise InputError(tables.label, "every row must name its user, but some do not")
    if rows.last_row is None:
        raise InputError(tables.label, "the log is empty: it has no users")
    if rows.last_row >= MOST_ROWS:
        rule = f"at most {MOST_ROWS:,} in one log"
        raise ParameterError("rows", rule, f"more than {rows.last_row:,}")
    return int(found["users"])
