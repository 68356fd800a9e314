"""A population over a log in any engine: the questions of the five steps as expressions.

Everything here is narwhals, so that it runs unchanged wherever :class:`Tables` is answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np

from blender_dp.core.cells import IntArray
from blender_dp.core.errors import InputError, ParameterError
from blender_dp.core.head_list import HeadList, Record
from blender_dp.core.randomness import Randomness
from blender_dp.engine.group_sizes import discovery_users, opt_in_users, require_both_groups
from blender_dp.engine.sampling import MOST_ROWS, SamplingKeys, order_users, sample_records
from blender_dp.engine.simulated_clients import SimulatedClients, one_by_one
from blender_dp.engine.tables import Frame, Tables


@dataclass(frozen=True, slots=True)
class TableUsers:
    """The users at a range of positions in the secret order."""

    tables: Tables
    sample: Frame
    start: int
    stop: int

    @property
    def size(self) -> int:
        """How many users."""
        return self.stop - self.start

    def split(self, fraction: float) -> "tuple[TableUsers, TableUsers]":
        """Part the users; the order is random, so any cut is."""
        middle = self.start + discovery_users(self.size, fraction)
        return replace(self, stop=middle), replace(self, start=middle)

    def count_opted_in(self) -> int:
        """Count those whom the log's group column calls opt-in."""
        return count_rows(self.tables, self._rows(1).filter(nw.col("opt_in")))

    def record_counts(self, records_per_user: int) -> "TableRecordCounts":
        """Count the distinct records of these users' samples."""
        counts = (
            self._rows(records_per_user)
            .filter(~nw.col("query").is_null())
            .group_by("query", "url")
            .agg(count=nw.len().cast(nw.Int64), first_row=nw.col("row").min())
        )
        return TableRecordCounts(self.tables, self.tables.materialise(counts))

    def cell_counts(self, head_list: HeadList, records_per_user: int) -> IntArray:
        """Count these users' samples by cell; what is missing is ⟨⋆,⋆⟩."""
        cells = head_list.cells
        counts = np.zeros(cells.cell_count, dtype=np.int64)
        if head_list.queries:
            found = self.tables.fetch(self._cells(head_list, records_per_user))
            counts[found["cell"].to_numpy()] = found["count"].to_numpy()
        counts[cells.other] = records_per_user * self.size - counts[: cells.other].sum()
        return counts

    def _cells(self, head_list: HeadList, records_per_user: int) -> Frame:
        """Return cell and count for the cells of listed queries."""
        cells = head_list.cells
        records = head_list.records()
        listed = self.tables.upload(
            {
                "query": [record.query for record in records],
                "url": [record.url for record in records],
                "cell": cells.listed.tolist(),
            }
        )
        stars = self.tables.upload(
            {"query": list(head_list.queries), "star": cells.star_of_query[:-1].tolist()}
        )
        return (
            self._rows(records_per_user)
            .join(stars, on="query", how="inner")
            .join(listed, on=["query", "url"], how="left")
            .with_columns(cell=nw.coalesce("cell", "star"))
            .group_by("cell")
            .agg(count=nw.len().cast(nw.Int64))
        )

    def _rows(self, records_per_user: int) -> Frame:
        position = nw.col("position")
        return self.sample.filter(
            position >= self.start, position < self.stop, nw.col("rank") <= records_per_user
        )


@dataclass(frozen=True, slots=True)
class TableRecordCounts:
    """Distinct records with their counts, in a table: query, url, count, first_row."""

    tables: Tables
    counts: Frame

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every count and the number of records that have it, smallest count first."""
        sizes = self.counts.group_by("count").agg(size=nw.len().cast(nw.Int64)).sort("count")
        found = self.tables.fetch(sizes)
        return found["count"].to_numpy(), found["size"].to_numpy()

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[Record]:
        """Return the records at these positions, a class being in order of first appearance."""
        if not chosen:
            return []
        positions = self.tables.upload(
            {
                "count": np.repeat([c for c, _ in chosen], [len(at) for _, at in chosen]).tolist(),
                "at": np.concatenate([at + 1 for _, at in chosen]).tolist(),
            }
        )
        wanted = self.counts.filter(nw.col("count").is_in([count for count, _ in chosen]))
        ranked = wanted.with_columns(at=nw.col("first_row").rank("ordinal").over("count"))
        found = self.tables.fetch(ranked.join(positions, on=["count", "at"], how="semi"))
        pairs = zip(found["query"].to_pylist(), found["url"].to_pylist(), strict=True)
        return [Record(query, url) for query, url in pairs]


@dataclass(frozen=True, slots=True)
class TablePopulation:
    """Everybody in a log."""

    opt_in: TableUsers
    clients: SimulatedClients


def open_population(
    tables: Tables,
    randomness: Randomness,
    *,
    opt_in: float | None,
    records_per_user: int,
) -> TablePopulation:
    """Sample the log, order its users and part them into opt-in users and clients.

    Args:
        tables: Where the log is.
        randomness: For the secret keys and for the clients' noise.
        opt_in: The share of the users who opted in, or None if the log says who did.
        records_per_user: The most records that any step will ask of a user.
    """
    everyone = open_users(
        tables, randomness, has_groups=opt_in is None, records_per_user=records_per_user
    )
    share = opt_in
    opted_in = everyone.count_opted_in() if share is None else opt_in_users(everyone.size, share)
    require_both_groups(opted_in, everyone.size - opted_in)
    return TablePopulation(
        opt_in=replace(everyone, stop=opted_in),
        clients=SimulatedClients(replace(everyone, start=opted_in), one_by_one(randomness)),
    )


def open_users(
    tables: Tables, randomness: Randomness, *, has_groups: bool, records_per_user: int
) -> TableUsers:
    """Sample the log and put its users into a secret random order, opt-in users first."""
    keys = SamplingKeys.draw(randomness)
    sample = tables.materialise(
        tables.with_user_id(sample_records(tables, keys.rows, records_per_user))
    )
    _require_usable(tables, sample)
    users = tables.materialise(order_users(sample, keys.users, has_groups=has_groups))
    placed = tables.materialise(sample.join(users, on="user", how="inner"))
    return TableUsers(tables, placed, 0, count_rows(tables, users))


def _require_usable(tables: Tables, sample: Frame) -> None:
    """Refuse a log without rows, with rows of nobody, or with more than can be numbered."""
    facts = sample.select(
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


def count_rows(tables: Tables, frame: Frame) -> int:
    """Return how many rows ``frame`` has."""
    return int(tables.fetch(frame.select(count=nw.len()))["count"][0].as_py())
